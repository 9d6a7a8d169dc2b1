package reconcile_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/effects"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// onBothStores runs f in a world on each store. The clock of a Redis is given the fake
// time that passes.
func onBothStores(t *testing.T, f func(*world)) {
	t.Run("bolt", func(t *testing.T) {
		if err := inWorld(t, f); err != nil {
			t.Error(err)
		}
	})
	t.Run("redis", func(t *testing.T) {
		url := redistest.Start(t).URL
		synctest.Test(t, func(t *testing.T) {
			s, err := redisstore.Open(t.Context(), redisstore.Options{URL: url, Clock: clock.Runtime{}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // the server is thrown away
			w := newWorld(s)
			f(w)
			if len(w.errs) > 0 {
				t.Error(w.result())
			}
		})
	})
}

// book lists the sprints that the book of milestones has of the repository.
func (w *world) book() []mapping.ObjectID {
	data, err := w.store.Doc(context.Background(), project, "milestones")
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	w.check(err)
	var book map[string]map[mapping.ObjectID]json.RawMessage
	w.check(json.Unmarshal(data, &book))
	return slices.Sorted(maps.Keys(book[repo]))
}

// retire lets days go by, with a pass over the book on each.
func (w *world) retire(d time.Duration) {
	for range int(d / (24 * time.Hour)) {
		time.Sleep(24 * time.Hour)
		w.check(w.recon.RetireMilestones(context.Background(), project))
	}
}

// sprintIs stores the sprints as a poll does; past: the only one is.
func (w *world) sprintIs(past bool, more ...mapping.Sprint) {
	sprints := slices.Concat(more, []mapping.Sprint{{ID: sprintID, Title: "Sprint 1", End: time.Date(2001, 3, 4, 23, 30, 0, 0, time.UTC), Past: past}})
	w.check(w.store.PutDoc(context.Background(), project, store.DocSprints, encode(sprints)))
}

// shows demands which sprints the book has, and that there is one milestone.
func (w *world) shows(when string, want ...mapping.ObjectID) {
	if got := w.book(); !slices.Equal(got, want) {
		w.fail("%s the book has the sprints %q, want %q", when, got, want)
	}
	if n := len(w.hub.milestones); n != 1 {
		w.fail("%s there are %d milestones", when, n)
	}
}

const (
	kept = effects.MilestonesKept
	day  = 24 * time.Hour
)

// TestMilestonesAreRetired: the book forgets the milestone of a sprint that is long past. The
// marker identifies it when a card of the sprint is worked again.
func TestMilestonesAreRetired(t *testing.T) {
	onBothStores(t, func(w *world) {
		w.agree()
		intoSprint()(w)
		w.settle()
		w.retire(2 * kept)
		w.shows("while the sprint is live", sprintID)
		w.sprintIs(true)
		w.retire(kept / 2)
		w.sprintIs(false) // its end was moved
		w.retire(kept)
		w.shows("while the sprint is live again", sprintID)
		w.sprintIs(true)
		w.retire(kept)
		w.shows("shortly before its time is over", sprintID)
		w.retire(2 * day)
		w.shows("after its time")
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Milestone = 0 })
		w.settle()
		w.shows("when it is needed once more", sprintID)
		if got := w.issue().Milestone; got != 1 {
			w.fail("the issue has milestone %d", got)
		}
		w.retire(kept + 2*day)
		w.shows("in the end")
	})
}

// TestMilestonesThatStay: where somebody overwrote the marker of a past sprint's milestone, only
// the book identifies it. The book does so as long as the milestone is there.
func TestMilestonesThatStay(t *testing.T) {
	onBothStores(t, func(w *world) {
		w.agree()
		intoSprint()(w)
		w.settle()
		w.sprintIs(true)
		w.hub.milestones[0].Description = "Mine"
		w.retire(2 * kept)
		w.shows("without its marker", sprintID)
		w.hub.milestones = nil
		w.retire(day)
		if got := w.book(); len(got) != 0 {
			w.fail("the book has the sprints %q, of which GitHub has no milestone", got)
		}
	})
}

// TestMilestonesOfSprintsThatAreGone: so do those of sprints that planning has no more,
// and of repositories that no route shows sprints in.
func TestMilestonesOfSprintsThatAreGone(t *testing.T) {
	for name, leave := range map[string]func(*world){
		"the sprint is deleted": func(w *world) { w.check(w.store.PutDoc(context.Background(), project, store.DocSprints, []byte("[]"))) },
		"the route is removed": func(w *world) {
			w.route.Repositories = []string{"acme/other"}
			w.restart()
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBothStores(t, func(w *world) {
				w.agree()
				intoSprint()(w)
				w.settle()
				leave(w)
				w.retire(kept)
				w.shows("shortly before its time is over", sprintID)
				w.retire(2 * day)
				w.shows("after its time")
			})
		})
	}
}

// TestRetiringNeedsGitHub: where GitHub does not answer nothing is forgotten.
func TestRetiringNeedsGitHub(t *testing.T) {
	onBothStores(t, func(w *world) {
		w.agree()
		intoSprint()(w)
		w.settle()
		w.sprintIs(true)
		w.retire(kept)
		w.faults.armed, w.faults.draw = true, func(p point) fate {
			if p.kind == "read" {
				return unavailable
			}
			return ""
		}
		time.Sleep(2 * day)
		if err := w.recon.RetireMilestones(context.Background(), project); err == nil {
			w.fail("no error while GitHub is away")
		}
		w.shows("while GitHub is away", sprintID)
	})
}
