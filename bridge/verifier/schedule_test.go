package verifier_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/inventory"
	"planbridge/bridge/jobs"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/verifier"
	"planbridge/mapping"
	"planbridge/store/memstore"
)

// quiet is a program without a route, which counts its verifications.
type quiet struct {
	interval time.Duration
	ready    atomic.Int32
}

func (q *quiet) Settings() *reconcile.Settings               { return &reconcile.Settings{} }
func (q *quiet) Project(mapping.ObjectID) inventory.Planning { return nil }
func (q *quiet) VerifyInterval() time.Duration               { return q.interval }
func (q *quiet) Ready(context.Context) error                 { q.ready.Add(1); return nil }

// TestSchedule: of all replicas one verifies in each interval, the first time one after the
// store was first met, whenever replicas begin and end.
func TestSchedule(t *testing.T) {
	for name, c := range map[string]struct {
		interval time.Duration
		replicas int
		shifts   int // of 23 hours: then all replicas are replaced
		want     int32
	}{
		"by hand only":          {0, 1, 5, 0},
		"one replica":           {24 * time.Hour, 1, 5, 4},
		"three replicas":        {24 * time.Hour, 3, 5, 4},
		"in the first interval": {7 * 24 * time.Hour, 2, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, mem := &quiet{interval: c.interval}, memstore.New(memstore.Options{Clock: clock.Runtime{}})
				for range c.shifts {
					ctx, stop := context.WithTimeout(t.Context(), 23*time.Hour)
					var running sync.WaitGroup
					for i := range c.replicas {
						g, s := guard.New(slog.New(slog.DiscardHandler)), mem.Open(nil)
						r := jobs.New(g, clock.Runtime{})
						r.Open(ctx)
						v := verifier.New(verifier.Options{
							Store: s, Inventory: inventory.New(inventory.Options{Store: s, Settings: q, Projects: q}), Services: q, Clock: clock.Runtime{},
							Metrics: verifier.NewMetrics(prometheus.NewRegistry()), Jobs: r, Guard: g, Schedule: q,
							Owner: string(rune('a' + i)), Logger: slog.New(slog.DiscardHandler),
						})
						running.Go(func() { v.Run(ctx) })
					}
					running.Wait()
					stop()
				}
				if got := q.ready.Load(); got != c.want {
					t.Errorf("%d verifications, want %d", got, c.want)
				}
			})
		})
	}
}
