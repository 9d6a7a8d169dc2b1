package operator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"planbridge/bridge/operator"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// given is an operator of a store with one link, whose issue is acme/web#12.
func given(t *testing.T, set reconcile.Settings, l *mapping.Link) (*operator.Operator, func() *mapping.Link) {
	t.Helper()
	s := memstore.New(memstore.Options{Clock: time.Now}).Open(nil)
	l.ID, l.Project, l.Issue, l.Card = "l1", "p", mapping.IssueID{ID: 7, Repo: "acme/web", Number: 12}, mapping.CardID{ID: "card"}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: l}}); err != nil {
		t.Fatal(err)
	}
	set.Routes = mapping.NewRoutes([]mapping.Route{{Name: "web", Repositories: []string{"acme/web"}, Project: "p", Authors: mapping.AuthorsAny}})
	both := &outsiders{issues: map[int]mapping.Issue{12: {ID: 7, State: "open"}}, cards: []mapping.Card{{ID: "card"}}}
	o := operator.New(operator.Options{Store: s, Settings: &fixed{set}, Services: both})
	return o, func() *mapping.Link {
		now, err := s.Link(t.Context(), store.Key{Project: "p", Link: "l1"})
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
}

// TestUnlinkEndsTakingApart: a pair that was to be taken apart and was given up is unlinked.
func TestUnlinkEndsTakingApart(t *testing.T) {
	o, link := given(t, reconcile.Settings{}, &mapping.Link{Pair: mapping.Pair{State: mapping.Linked}, Cleaning: true})
	if err := o.Unlink(t.Context(), "l1"); err != nil {
		t.Fatal(err)
	}
	if l := link(); l.Cleaning || !l.Parted {
		t.Errorf("cleaning %v, parted %v", l.Cleaning, l.Parted)
	}
}

// TestLinkEndsTakingApart: a pair that is linked again is not taken apart.
func TestLinkEndsTakingApart(t *testing.T) {
	o, link := given(t, reconcile.Settings{}, &mapping.Link{Pair: mapping.Pair{State: mapping.Dormant}, Parted: true, Cleaning: true})
	if _, err := o.Link(t.Context(), "acme/web#12", "card"); err != nil {
		t.Fatal(err)
	}
	if l := link(); l.Cleaning || l.Parted || l.State != mapping.Linked {
		t.Errorf("%s, cleaning %v, parted %v", l.State, l.Cleaning, l.Parted)
	}
}

// TestADryServiceTakesNothingApart: it may only be asked what would be taken off.
func TestADryServiceTakesNothingApart(t *testing.T) {
	o, _ := given(t, reconcile.Settings{DryRun: true}, &mapping.Link{Pair: mapping.Pair{State: mapping.Linked}})
	if _, err := o.MayClean(t.Context(), status.CleanAsk{Item: "l1"}); !errors.Is(err, status.ErrState) {
		t.Errorf("MayClean: %v", err)
	}
	refused, err := o.MayClean(t.Context(), status.CleanAsk{Item: "l1", DryRun: true})
	if err != nil || refused != "the service runs dry and writes nothing" {
		t.Errorf("MayClean of a dry run: %q, %v", refused, err)
	}
}

// planner is both services, where nothing is to be taken off any pair.
type planner struct{ outsiders }

func (p *planner) Previewer() (operator.Previewer, func(), error) {
	return nothingMade{}, func() {}, nil
}

type nothingMade struct{ operator.Previewer }

func (nothingMade) PlanCleaning(context.Context, *mapping.Link) ([]mapping.CleanStep, error) {
	return nil, nil
}

// TestCleanKnowsItsEnd: from the first pair on it is told how many there are, so that people see
// how long it takes.
func TestCleanKnowsItsEnd(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: time.Now}).Open(nil)
	for _, id := range []mapping.LinkID{"l1", "l2", "l3"} {
		l := &mapping.Link{ID: id, Project: "p", Route: "web", Pair: mapping.Pair{State: mapping.Linked, Card: mapping.CardID{ID: mapping.ObjectID("card " + id)}}}
		if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: l}}); err != nil {
			t.Fatal(err)
		}
	}
	set := reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "web", Repositories: []string{"acme/web"}, Project: "p"}})}
	o := operator.New(operator.Options{Store: s, Settings: &fixed{set}, Services: &planner{}})
	job, seen := status.Job{Clean: &status.CleanResult{}}, []string{}
	err := o.Clean(t.Context(), status.CleanAsk{Route: "web", DryRun: true}, func(change func(*status.Job)) {
		was := job.Done
		if change(&job); job.Done != was {
			seen = append(seen, fmt.Sprintf("%d of %d", job.Done, job.Total))
		}
	})
	if want := []string{"1 of 3", "2 of 3", "3 of 3"}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("told %q, %v, want %q", seen, err, want)
	}
}
