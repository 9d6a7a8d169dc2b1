package benchtest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping/mappingtest"

	"planbridge/bridge/budgets"
	"planbridge/bridge/clock"
	"planbridge/bridge/github"
	"planbridge/store"
	"planbridge/store/memstore"
)

// usualLimits are those of the usual settings.
type usualLimits struct{}

func (usualLimits) WriteLimits() budgets.Limits {
	return budgets.Limits{ContentPerMinute: 70, ContentPerHour: 450, EditsPerMinute: 60, PointsPerMinute: 850}
}

// TestWrites: two replicas share GitHub's write budgets. People's changes that come evenly
// wait for none of them. While one route asks for more than there is, it has eleven twelfths, and
// another route's change does not wait.
func TestWrites(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	for class, tt := range map[github.WriteClass]struct{ evenly, least, most int }{
		github.ClassContent: {400, 400, 450},
		github.ClassEdit:    {3200, 3200, 3600},
	} {
		for _, routes := range []int{1, 10} {
			if waited := evenly(t, class, routes, tt.evenly); waited > 0 {
				t.Errorf("of %d %s writes an hour on %d routes %d waited", tt.evenly, class, routes, waited)
			}
		}
		given, longest := flooded(t, class)
		t.Logf("%s: %d in an hour, another route's change waits %v at most", class, given, longest)
		if given < tt.least || given > tt.most || longest > time.Second {
			t.Errorf("%s: %d in an hour, want %d to %d; another route's change waits %v", class, given, tt.least, tt.most, longest)
		}
	}
}

// takers are two replicas, and the budget that they share.
type takers struct {
	replicas []*memstore.Store
	budget   store.Budget
}

func newTakers(class github.WriteClass) *takers {
	memory := memstore.New(memstore.Options{Clock: clock.Runtime{}})
	limits := budgets.New(budgets.Options{Store: memory.Open(nil), Settings: usualLimits{}, Clock: clock.Runtime{}})
	return &takers{[]*memstore.Store{memory.Open(nil), memory.Open(nil)}, limits.Budget(class)}
}

// take asks the i-th replica for a person's write.
func (r *takers) take(t *testing.T, i int, route string) store.Grant {
	t.Helper()
	g, err := r.replicas[i%len(r.replicas)].Take(t.Context(), r.budget, store.Ask{Route: route, Author: fmt.Sprint("author ", i%7), Rank: store.RankPeople})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// evenly plays two hours of people's changes, so many an hour by turns on some routes, and reports
// how many waited.
func evenly(t *testing.T, class github.WriteClass, routes, writes int) (waited int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newTakers(class)
		for i := range 2 * writes {
			if g := r.take(t, i, fmt.Sprint("route ", i%routes)); g.Items == 0 {
				waited++
			}
			time.Sleep(time.Hour / time.Duration(writes))
		}
	})
	return waited
}

// flooded has one route ask for more than there is, and another one once a minute. It reports how
// many writes the second hour had, and how long the other route waited at most.
func flooded(t *testing.T, class github.WriteClass) (given int, longest time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, began := newTakers(class), time.Now()
		take := func(i int, route string) store.Grant {
			g := r.take(t, i, route)
			if time.Since(began) >= time.Hour {
				given += g.Items
			}
			return g
		}
		busy, quiet := began, began // when each asks next
		for i := 0; time.Since(began) < 2*time.Hour; i++ {
			now := time.Now()
			if !now.Before(quiet) {
				at := now
				for g := take(i, "quiet"); g.Items == 0; g = take(i, "quiet") {
					time.Sleep(g.Wait)
				}
				longest = max(longest, time.Since(at))
				quiet = at.Add(time.Minute)
			}
			if g := take(i, "busy"); g.Items == 0 {
				busy = time.Now().Add(g.Wait)
			}
			time.Sleep(time.Until(busy))
		}
	})
	return given, longest
}
