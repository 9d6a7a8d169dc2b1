package retention

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// earlier is a store that an earlier version wrote, until it is repaired.
type earlier struct {
	store.Store
	whole   bool
	repairs int
	fails   error
}

func (e *earlier) Tally(ctx context.Context, project mapping.ObjectID) (store.Tally, error) {
	t, err := e.Store.Tally(ctx, project)
	if !e.whole {
		t.Links, t.Failures = nil, nil
	}
	return t, err
}

func (e *earlier) Repair(context.Context, mapping.ObjectID) error {
	e.repairs++
	e.whole = e.whole || e.fails == nil
	return e.fails
}

// TestRepairProject: a project that an earlier version stored is repaired at once, by one replica,
// and again after a failure. Any other project is repaired when it is due.
func TestRepairProject(t *testing.T) {
	now := time.Now()
	memory := memstore.New(memstore.Options{Clock: clock.Func(func() time.Time { return now })})
	s := &earlier{Store: memory.Open(nil), fails: errors.New("away")}
	log := slog.New(slog.DiscardHandler)
	r := NewRepairer(RepairOptions{Store: s, Owner: "here", Clock: clock.Runtime{}, Logger: log, Guard: guard.New(log)})
	for _, step := range []struct {
		name            string
		before          func()
		due             bool
		repaired, fails bool
		repairs         int
	}{
		{name: "another replica is at it", repairs: 0, before: func() {
			if held, err := s.Acquire(t.Context(), "mend:p", "there", time.Minute); !held || err != nil {
				t.Fatalf("Acquire = %v, %v", held, err)
			}
		}},
		{name: "it died, and the store is away", before: func() { now = now.Add(2 * time.Minute) }, fails: true, repairs: 1},
		{name: "the store is back", before: func() { s.fails = nil }, repaired: true, repairs: 2},
		{name: "all is indexed", repairs: 2},
		{name: "it is due", due: true, repaired: true, repairs: 3},
	} {
		if step.before != nil {
			step.before()
		}
		repaired, err := r.project(t.Context(), "p", step.due)
		if repaired != step.repaired || (err != nil) != step.fails || s.repairs != step.repairs {
			t.Errorf("%s: repaired %v, %v, %d times; want %v, %d times", step.name, repaired, err, s.repairs, step.repaired, step.repairs)
		}
	}
	if held, err := s.Acquire(t.Context(), "mend:p", "there", time.Minute); !held || err != nil {
		t.Errorf("the lease was kept: %v, %v", held, err)
	}
}
