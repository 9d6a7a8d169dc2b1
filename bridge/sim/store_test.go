package sim

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/store"
)

// used is a store whose budgets have something left after a minute.
type used struct{ store.Store }

func (used) Take(context.Context, store.Budget, store.Ask) (store.Grant, error) {
	return store.Grant{Wait: time.Minute}, nil
}

// TestWaitsForABudgetEndApart: timers of one moment have no order. Two that a client holds back
// would run on as the machine likes.
func TestWaitsForABudgetEndApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScheduler(7, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var scheduling, acting sync.WaitGroup
		scheduling.Go(func() { s.Run(ctx) })
		var ends [2]time.Time
		for n := range ends {
			acting.Go(func() {
				time.Sleep(time.Duration(n) * time.Second)
				one := &Store{Store: used{}, Actor: "a", Scheduler: s}
				g, err := one.Take(ctx, store.Budget{Name: "points"}, store.Ask{})
				if err != nil || g.Wait < time.Minute || g.Wait > time.Minute+delay {
					t.Errorf("wait %v, %v", g.Wait, err)
				}
				ends[n] = time.Now().Add(g.Wait).Add(-time.Duration(n) * time.Second)
			})
		}
		acting.Wait()
		cancel()
		scheduling.Wait()
		if ends[0].Equal(ends[1]) {
			t.Errorf("both wait until %v", ends[0])
		}
	})
}
