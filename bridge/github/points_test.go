package github

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
)

type rankKey struct{}

// ranked is a context for a rank; one of rank 2 is patient.
func ranked(t *testing.T, rank int) context.Context {
	t.Helper()
	return context.WithValue(t.Context(), rankKey{}, rank)
}

// newPaced is a pacer whose share has what given says.
func newPaced(take func(want int) (int, time.Duration, error)) *pacer {
	return newPacer(&Points{
		Take: func(_ context.Context, want int) (int, time.Duration, error) { return take(want) },
		Asker: func(ctx context.Context) (int, bool) {
			rank, _ := ctx.Value(rankKey{}).(int)
			return rank, rank == 2
		},
		Now: time.Now,
	}, make(chan struct{}, budgetPatients))
}

var aRead, aWrite = call{op: "read_issue", path: "repos/acme/web/issues/1"}, call{op: "edit_issue", path: "repos/acme/web/issues/1", class: classWrite}

// Who needs many points takes many at once; who comes now and then takes few, and what is
// old is not used.
func TestPointsAreTakenAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []int
		p := newPaced(func(want int) (int, time.Duration, error) { asked = append(asked, want); return want, 0, nil })
		spend := func(k call, times int) {
			for range times {
				if err := p.spend(ranked(t, 0), k); err != nil {
					t.Error(err)
				}
			}
		}
		spend(aRead, 1)
		spend(aWrite, 1) // with the read before it
		if len(asked) != 1 || asked[0] != purseFirst {
			t.Errorf("a read and a write asked for %v", asked)
		}
		spend(aRead, 100)
		if len(asked) > 6 || asked[len(asked)-1] != purseMost {
			t.Errorf("a hundred reads at once asked for %v", asked)
		}
		time.Sleep(purseLasts + time.Second)
		asked = nil
		spend(aRead, 1)
		if len(asked) != 1 || asked[0] != purseFirst {
			t.Errorf("a read after a while asked for %v", asked)
		}
		asked = nil
		spend(call{op: "probe", path: "rate_limit"}, 1)
		spend(call{op: "edits", path: "graphql", class: classGraphQL}, 1)
		if len(asked) != 0 {
			t.Errorf("what does not count asked for %v", asked)
		}
	})
}

// Where there are none, what is done for a key waits a moment and else is put off with its
// turn; anything else waits in its place. A share that is away holds nobody up.
func TestWithoutPointsARequestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again, there, given := 3*time.Second, time.Now().Add(4*time.Second), false
		p := newPaced(func(int) (int, time.Duration, error) {
			if given || time.Now().Before(there) {
				return 0, again, nil
			}
			given = true
			return 1, again, nil
		})
		var limited *mapping.RateLimited
		if err := p.spend(ranked(t, 0), aRead); !errors.As(err, &limited) || limited.After != again || !limited.Turn {
			t.Errorf("of a key: %v", err)
		}
		began := time.Now()
		if err := p.spend(ranked(t, 2), aRead); err != nil || time.Since(began) != 2*again {
			t.Errorf("of the catch-up: %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(ranked(t, 2), time.Second)
		defer cancel()
		if err := p.spend(ctx, aRead); err == nil {
			t.Error("a request left without a point")
		}
		p.Take = func(context.Context, int) (int, time.Duration, error) { return 0, 0, errors.New("away") }
		if err := p.spend(ranked(t, 0), aWrite); err != nil {
			t.Errorf("with the share away: %v", err)
		}
	})
}
