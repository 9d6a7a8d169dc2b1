package reconcile_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// TestMilestonesFollowTheirSprints: the pass over the milestones changes what
// is there and makes none, whatever befalls its calls.
func TestMilestonesFollowTheirSprints(t *testing.T) {
	t.Parallel()
	renamed := func(w *world) {
		for range 10 {
			w.sprint("Sprint one")
			done := make(chan error, 1)
			go func() {
				defer close(done)
				done <- w.recon.Milestones(context.Background(), project)
			}()
			err, returned := <-done
			if w.faults.crashed {
				w.faults.crashed = false
				w.restart()
			}
			if returned && err == nil {
				return
			}
			time.Sleep(time.Minute) // the lease of a process that died ends
		}
		w.fail("the milestones were never brought in line")
	}
	s := scenario{before: both(linked, intoSprint()), do: renamed, ends: ends{also: func(w *world) {
		if m := w.hub.milestones[0]; m.Title != "Sprint one" {
			w.fail("the milestone is called %q", m.Title)
		}
	}}}
	for at, p := range s.calm(t) {
		for _, fate := range p.fates() {
			err := inWorld(t, func(w *world) {
				w.faults.at, w.faults.fate = at, fate
				s.begin(w)
				w.verify(s.ends)
			})
			if err != nil {
				t.Error(fmt.Errorf("call %d, %s: %s: %w", at, p.name, fate, err))
			}
		}
	}
}

// TestPeoplesMilestonesStay: a person's milestone of the sprint's name is not
// taken for the sprint's, and one on a card without a sprint is left alone.
func TestPeoplesMilestonesStay(t *testing.T) {
	passes(t, func(w *world) {
		w.hub.milestones = []mapping.Milestone{{Number: 1, Title: "Sprint 1", State: "open"}}
		w.agree()
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Milestone = 1 })
		w.settle()
		if got := w.issue().Milestone; got != 1 {
			w.fail("a person's milestone became %d", got)
		}
		intoSprint()(w)
		w.settle()
		if got := w.issue().Milestone; got != 2 || len(w.hub.milestones) != 2 || w.hub.milestones[0].Description != "" {
			w.fail("milestone %d of %+v", got, w.hub.milestones)
		}
	})
}

// TestSprintThatIsListedLater: a card's sprint may be missing from a listing for a while.
// However often the card is looked at meanwhile, its milestone is set soon after.
func TestSprintThatIsListedLater(t *testing.T) {
	passes(t, func(w *world) {
		w.agree()
		w.plans(func(c *mapping.Card) { c.Iteration = sprintID })
		key := store.Key{Project: project, Link: w.link().ID}
		for n := range 30 {
			w.after(pollInterval+time.Duration(n)*time.Second, func() { w.check(w.store.Enqueue(context.Background(), key, 0, false)) })
		}
		w.after(pollInterval+30*time.Second, func() {
			at, err := w.store.Standing(context.Background(), key)
			if w.check(err); at.State != store.KeyLater || !strings.Contains(at.Reason, string(sprintID)) {
				w.fail("its key stands at %+v", at)
			}
			w.sprint("Sprint 1")
		})
		w.after(pollInterval+(30+75+1)*time.Second, w.verifyShown)
		w.settle()
	})
}

// TestMilestonesOfALostStore: where the book is lost the marker identifies a sprint's milestone.
// That also holds behind a description that people rewrote while the book was there.
func TestMilestonesOfALostStore(t *testing.T) {
	passes(t, func(w *world) {
		w.agree()
		intoSprint()(w)
		w.settle()
		w.hub.milestones[0].Description = "Mine"
		w.sprint("Sprint one")
		w.check(w.recon.Milestones(context.Background(), project))
		if m := w.hub.milestones[0]; m.Title != "Sprint one" || m.Description == "Mine" {
			w.fail("the milestone is %+v", m)
		}
		w.check(w.store.PutDoc(context.Background(), project, "milestones", []byte("{}")))
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Milestone = 0 })
		w.settle()
		if w.issue().Milestone != 1 || len(w.hub.milestones) != 1 {
			w.fail("milestone %d of %+v", w.issue().Milestone, w.hub.milestones)
		}
	})
}

// A card leaves its sprint while the answer to the write that showed the milestone
// is lost: that milestone is the bridge's own, and goes.
func TestSprintIsLeftWhileItsMilestoneIsSet(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{answerLost, crashAfter} {
		for name, edit := range map[string]func(*world){
			"by itself":    func(*world) {},
			"with a title": func(w *world) { w.editCard(mapping.Title, to("tok8")) },
		} {
			t.Run(name+", "+string(f), func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) {
					w.agree()
					both(intoSprint(), func(w *world) { w.plans(func(c *mapping.Card) { c.Iteration = "" }) })(w) // the milestone is known
					w.settle()
					w.befall("EditIssue", f, func() { w.plans(func(c *mapping.Card) { c.Iteration = "" }) })
					intoSprint()(w)
					edit(w)
					w.settle()
					w.verifyShown()
				})
			})
		}
	}
}

// A card leaves its sprint while nobody looks, and the store is lost: the milestone's marker
// tells that it shows a sprint, and it goes.
func TestSprintIsLeftWhenTheStoreIsLost(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		intoSprint()(w)
		w.settle()
		if w.issue().Milestone == 0 {
			w.fail("the sprint is not shown")
		}
		w.plans(func(c *mapping.Card) { c.Iteration = "" })
		w.forget()
		w.verifyShown()
		if got := w.issue().Milestone; got != 0 {
			w.fail("milestone %d of a card without a sprint", got)
		}
	})
}
