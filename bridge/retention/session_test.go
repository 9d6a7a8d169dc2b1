package retention

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// life is a session that a test ends.
type life struct {
	over context.Context
	end  context.CancelCauseFunc
}

var errOver = errors.New("the session is over")

func newLife() life {
	over, end := context.WithCancelCause(context.Background())
	return life{over, end}
}

func (l life) Current() (store.Session, error) { return "s", context.Cause(l.over) }
func (l life) Fallen() <-chan struct{}         { return nil }

func (l life) Bound(ctx context.Context, _ store.Session) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.over, func() { cancel(context.Cause(l.over)) })
	return ctx, func() { stop(); cancel(nil) }
}

// TestAPassEndsWithItsLease: once its session ended, or another replica has its lease, a pass
// removes nothing more, and counts as none. The next one does the rest.
func TestAPassEndsWithItsLease(t *testing.T) {
	for name, lose := range map[string]func(w *world, k *Keeper, l life){
		"the session ended": func(_ *world, _ *Keeper, l life) { l.end(errOver) },
		"another replica has the lease": func(w *world, k *Keeper, _ life) {
			w.no(w.Release(w.ctx, leaseName, k.o.Owner))
			if held, err := w.Acquire(w.ctx, leaseName, "other", time.Hour); !held || err != nil {
				t.Fatal(held, err)
			}
			<-time.After(leaseTTL)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				const pages = 3
				for range pages * ledgerPage {
					w.conflict(2 * year)
				}
				w.forgetLast()
				process, drops := newLife(), 0
				var k *Keeper
				d := &dropping{Store: w.Store, look: func([]mapping.Conflict) error {
					if drops++; drops == 1 {
						lose(w, k, process)
						synctest.Wait()
					}
					return nil
				}}
				k = w.keeper(d)
				k.o.Session = process
				if err := k.Pass(w.ctx, func(string) {}); name == "the session ended" && !errors.Is(err, errOver) {
					t.Errorf("the pass ends with %v", err)
				}
				if left := len(w.ids()); drops != 1 || left < (pages-1)*ledgerPage {
					t.Errorf("%d pages were removed, %d conflicts are left", drops, left)
				}
				w.no(w.Release(w.ctx, leaseName, "other"))
				next := w.keeper(w.Store)
				if due, err := next.Due(w.ctx); !due || err != nil {
					t.Errorf("the next pass is due: %v, %v", due, err)
				}
				w.no(next.Pass(w.ctx, func(string) {}))
				if left := len(w.ids()); left != 0 {
					t.Errorf("%d conflicts are left by the next pass", left)
				}
			})
		})
	}
}

// endless is a store whose repair takes until it is ended.
type endless struct{ earlier }

func (e *endless) Repair(ctx context.Context, _ mapping.ObjectID) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestARepairEndsWithItsLease: it ends with the session of its replica, and another replica may
// begin at once.
func TestARepairEndsWithItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		process := newLife()
		s := &endless{earlier{Store: memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)}}
		log := slog.New(slog.DiscardHandler)
		r := NewRepairer(RepairOptions{Store: s, Session: process, Owner: "here", Clock: clock.Runtime{}, Logger: log, Guard: guard.New(log)})
		time.AfterFunc(time.Minute, func() { process.end(errOver) })
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if repaired, err := r.project(ctx, "p", false); repaired || !errors.Is(err, errOver) || time.Since(began) != time.Minute {
			t.Errorf("repaired %v, %v, after %v", repaired, err, time.Since(began))
		}
		if held, err := s.Acquire(t.Context(), "mend:p", "there", time.Minute); !held || err != nil {
			t.Errorf("another replica has the lease: %v, %v", held, err)
		}
	})
}
