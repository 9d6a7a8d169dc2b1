package decommission_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/decommission"
	"planbridge/bridge/links"
	"planbridge/bridge/pause"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// nothingMade are services where nothing is to be taken off any pair.
type nothingMade struct{ decommission.Services }

func (nothingMade) Ready(context.Context) error { return nil }

func (nothingMade) BucketIDs(_ context.Context, _ mapping.ObjectID, bucket string) ([]mapping.ObjectID, error) {
	return []mapping.ObjectID{mapping.ObjectID("id of " + bucket)}, nil
}

func (nothingMade) PlanCleaning(context.Context, *mapping.Link) ([]mapping.CleanStep, error) {
	return nil, nil
}

// decommissioner is one of a store, where no service runs.
func decommissioner(s store.Store, set *reconcile.Settings) *decommission.Decommissioner {
	return decommission.New(decommission.Options{
		Store: s, Settings: set, Services: nothingMade{}, Finder: links.New(links.Options{Store: s, Settings: set}),
		Pauses: pause.New(pause.Options{Store: s, Settings: set}), Clock: clock.Runtime{},
	})
}

// adopt says that a complete poll has read the project.
func adopt(t *testing.T, s *memstore.Store) {
	t.Helper()
	epoch, err := s.Epoch(t.Context())
	if err == nil {
		err = s.PutDoc(t.Context(), "p", store.DocAdopted, []byte(epoch))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestCleanOfALostStore: a run that finds no pair fails while the links may still be restored, as
// a dry run does. Afterwards it counts none.
func TestCleanOfALostStore(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	set := &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "web", Repositories: []string{"acme/web"}, Project: "p", ProjectName: "web"}})}
	d := decommissioner(s, set)
	for _, ask := range []status.CleanAsk{{Route: "web", DryRun: true}, {Route: "web"}} {
		err := d.Clean(t.Context(), ask, func(func(*status.Job)) {})
		if !errors.Is(err, status.ErrState) || !strings.Contains(err.Error(), "restores the links of project web from the markers") {
			t.Errorf("before: %+v: %v", ask, err)
		}
	}
	adopt(t, s)
	if err := d.Clean(t.Context(), status.CleanAsk{Route: "web"}, func(func(*status.Job)) {}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestADryServiceTakesNothingApart: it may only be asked what would be taken off.
func TestADryServiceTakesNothingApart(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: &mapping.Link{ID: "l1", Project: "p", Pair: mapping.Pair{State: mapping.Linked}}}}); err != nil {
		t.Fatal(err)
	}
	d := decommissioner(s, &reconcile.Settings{DryRun: true})
	if _, err := d.MayClean(t.Context(), status.CleanAsk{Item: "l1"}); !errors.Is(err, status.ErrState) {
		t.Errorf("MayClean: %v", err)
	}
	refused, err := d.MayClean(t.Context(), status.CleanAsk{Item: "l1", DryRun: true})
	if err != nil || refused != "the service runs dry and writes nothing" {
		t.Errorf("MayClean of a dry run: %q, %v", refused, err)
	}
}

// TestCleanKnowsItsEnd: from the first pair on it is told how many there are, so that people see
// how long it takes.
func TestCleanKnowsItsEnd(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	for _, id := range []mapping.LinkID{"l1", "l2", "l3"} {
		l := &mapping.Link{ID: id, Project: "p", Route: "web", Pair: mapping.Pair{State: mapping.Linked, Card: mapping.CardID{ID: mapping.ObjectID("card " + id)}}}
		if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: l}}); err != nil {
			t.Fatal(err)
		}
	}
	set := &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "web", Repositories: []string{"acme/web"}, Project: "p"}})}
	d := decommissioner(s, set)
	job, seen := status.Job{Clean: &status.CleanResult{}}, []string{}
	err := d.Clean(t.Context(), status.CleanAsk{Route: "web", DryRun: true}, func(change func(*status.Job)) {
		was := job.Done
		if change(&job); job.Done != was {
			seen = append(seen, fmt.Sprintf("%d of %d", job.Done, job.Total))
		}
	})
	if want := []string{"1 of 3", "2 of 3", "3 of 3"}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("told %q, %v, want %q", seen, err, want)
	}
}

// TestMoveLeavesPartedPairs: nobody has to move the card of a pair that was parted.
func TestMoveLeavesPartedPairs(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	l := &mapping.Link{ID: "l1", Project: "p", Route: "web", Parted: true, Pair: mapping.Pair{State: mapping.Dormant, Card: mapping.CardID{ID: "c1", Bucket: "id of Now", BucketName: "Now"}}}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: l}}); err != nil {
		t.Fatal(err)
	}
	set := &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "web", Repositories: []string{"acme/web"}, Project: "p", ProjectName: "web", Bucket: "Later"}})}
	job := status.Job{Clean: &status.CleanResult{}}
	ask := status.CleanAsk{Route: "web", Project: "web", Bucket: "Later", DryRun: true}
	err := decommissioner(s, set).Clean(t.Context(), ask, func(change func(*status.Job)) { change(&job) })
	if err != nil || job.Clean.Stayed != 1 || len(job.Clean.Steps) != 1 || job.Clean.Steps[0].What != "an operator parted it" {
		t.Errorf("%+v, %v", job.Clean, err)
	}
}

// putOff is a queue whose engine puts off each key that it is kicked for.
type putOff struct {
	t     *testing.T
	store store.Store
}

func (q *putOff) Kick() {
	c, _, err := q.store.Claim(q.t.Context(), "p", time.Minute)
	if err == nil && c != nil {
		err = q.store.Finish(q.t.Context(), c, c.Link, nil, store.Outcome{Kind: store.Again, After: time.Hour, Reason: "its turn comes"})
	}
	if err != nil {
		q.t.Error(err)
	}
}

// TestCleanTellsUntilWhenItWaits: of pairs that wait for their time, the reason and the earliest
// time are told.
func TestCleanTellsUntilWhenItWaits(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	l := &mapping.Link{ID: "l1", Project: "p", Route: "web", Pair: mapping.Pair{State: mapping.Linked, Card: mapping.CardID{ID: "c1"}}}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: l}}); err != nil {
		t.Fatal(err)
	}
	set := &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "web", Repositories: []string{"acme/web"}, Project: "p"}})}
	d := decommission.New(decommission.Options{
		Store: s, Settings: set, Services: nothingMade{}, Finder: links.New(links.Options{Store: s, Settings: set}), Queue: &putOff{t, s},
		Holder: links.Holder{Store: s, Clock: clock.Runtime{}}, Pauses: pause.New(pause.Options{Store: s, Settings: set}), Clock: clock.Runtime{},
	})
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	var waits []status.JobWait
	job := status.Job{Clean: &status.CleanResult{}}
	err := d.Clean(ctx, status.CleanAsk{Route: "web"}, func(change func(*status.Job)) {
		if change(&job); len(job.Waits) > 0 {
			waits = job.Waits
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || len(waits) != 1 || waits[0].For != "its turn comes" || time.Until(waits[0].Until) < 50*time.Minute {
		t.Errorf("waits for %+v, %v", waits, err)
	}
}
