package engine

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// observe makes n links' keys due.
func observe(t *testing.T, s store.Store, project mapping.ObjectID, n int, delay time.Duration) {
	t.Helper()
	var obs []store.Observation
	for i := range n {
		obs = append(obs, store.Observation{Create: &mapping.Link{ID: mapping.LinkID(fmt.Sprint(i)), Project: project, Pair: mapping.Pair{State: mapping.Linked}}, Delay: delay})
	}
	if _, err := s.Observe(t.Context(), project, obs); err != nil {
		t.Fatal(err)
	}
}

// TestABusyProjectLeavesOthersTheirTurn: a worker does not keep to one project for long.
func TestABusyProjectLeavesOthersTheirTurn(t *testing.T) {
	const busy, few = 200, 3
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		observe(t, s, "busy", busy, 0)
		observe(t, s, "quiet", few, 0)
		var worked []store.Key
		stop := inBackground(newEngine(s, core{work: func(_ context.Context, c *store.Claim, _ Lease) reconcile.Result {
			worked = append(worked, c.Key)
			return reconcile.Result{Link: c.Link}
		}}, "busy", "quiet"))
		time.Sleep(time.Minute)
		stop()
		if len(worked) != busy+few {
			t.Fatalf("%d keys were worked, want %d", len(worked), busy+few)
		}
		for i, k := range worked {
			if k.Project == "quiet" && i > busy/5 {
				t.Errorf("%s came after %d keys of the busy project", k, i)
			}
		}
	})
}

// TestAQuietProjectIsServedNext: workers go from key to key of a busy project. A key of another
// project begins as soon as one of them ends its key. So does a key that became due by time.
func TestAQuietProjectIsServedNext(t *testing.T) {
	const busy, took = 600, 20 * time.Millisecond
	for name, delay := range map[string]time.Duration{"at once": 0, "later": 705 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				observe(t, s, "busy", busy, 0)
				var begun time.Time
				e := newEngine(s, core{work: func(_ context.Context, c *store.Claim, l Lease) reconcile.Result {
					l.Acquire()
					if c.Key.Project == "quiet" {
						begun = time.Now()
					}
					time.Sleep(took)
					return reconcile.Result{Link: c.Link}
				}}, "busy", "idle", "quiet")
				e.StoreWorkers = 1
				stop := inBackground(e)
				time.Sleep(time.Second + took/2)
				observe(t, s, "quiet", 1, delay)
				due := time.Now().Add(delay)
				e.Due("quiet")
				time.Sleep(3 * time.Second)
				stop()
				// One key is at the service. Another one holds a worker and waits for the slot.
				if late := begun.Sub(due); begun.IsZero() || late < 0 || late > 3*took {
					t.Errorf("the key was begun %v after it was due, want at most %v", late, 3*took)
				}
				if depth, err := s.Depth(t.Context(), "busy"); err != nil || depth.Live == 0 {
					t.Errorf("the other project is busy no more: %+v, %v", depth, err)
				}
			})
		})
	}
}

// slowly is a store whose keys take a while to be worked. It notes when a claim came from no
// finished key.
type slowly struct {
	store.Store
	mu    sync.Mutex
	began []time.Time
}

const taking = 250 * time.Millisecond

func (s *slowly) Claim(ctx context.Context, project mapping.ObjectID, ttl time.Duration) (*store.Claim, time.Duration, error) {
	claim, wait, err := s.Store.Claim(ctx, project, ttl)
	if claim != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.began = append(s.began, time.Now())
	}
	return claim, wait, err
}

func (s *slowly) FinishAndClaim(ctx context.Context, c *store.Claim, l *mapping.Link, h []mapping.Entry, out store.Outcome, ttl time.Duration) (*store.Claim, error) {
	time.Sleep(taking)
	return s.Store.FinishAndClaim(ctx, c, l, h, out, ttl)
}

// TestReplicasShareWhatNobodyToldThem: each replica begins keys that become due later, and keys
// that another replica made due, within one idle poll.
func TestReplicasShareWhatNobodyToldThem(t *testing.T) {
	const many, replicas, look = 40, 3, time.Second
	for _, tt := range []struct{ delay, within time.Duration }{{10*time.Second + 300*time.Millisecond, time.Millisecond}, {0, look}} {
		synctest.Test(t, func(t *testing.T) {
			s := newStore()
			var each []*slowly
			var stops []func()
			for range replicas {
				o := &slowly{Store: s}
				each = append(each, o)
				stops = append(stops, inBackground(newEngine(o, core{}, "p")))
				time.Sleep(look / replicas)
			}
			due := time.Now().Add(tt.delay)
			observe(t, s, "p", many, tt.delay)
			time.Sleep(time.Minute)
			for _, stop := range stops {
				stop()
			}
			for i, o := range each {
				if len(o.began) == 0 {
					t.Errorf("delay %v: replica %d did nothing", tt.delay, i)
				} else if late := o.began[0].Sub(due); late < 0 || late > tt.within {
					t.Errorf("delay %v: replica %d began %v after the keys were due, want at most %v", tt.delay, i, late, tt.within)
				}
			}
		})
	}
}
