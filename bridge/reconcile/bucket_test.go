package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// TestReadsOfACardKeepItsBucketsName: a bucket's id in its listing may differ from the one in its
// cards' own state. A read of the card then has no news of the bucket.
func TestReadsOfACardKeepItsBucketsName(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		mirrored(w)
		w.plan.stateID = "state-incoming"
		w.plans(func(c *mapping.Card) { c.StateID = w.plan.stateID })
		w.settle()
		w.look(w.link(), true)
		w.settle()
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = []string{"points/3"} })
		w.settle()
		w.verifyShown()
		if !slices.Contains(w.issue().Labels, "bucket:Incoming") {
			w.fail("labels %q", w.issue().Labels)
		}
	})
}

// TestBucketOfACardThatWasPlannedAtOnce: a sprint does not show a card's bucket. A card that was
// planned before its bucket was ever listed counts as in the bucket where it was made.
func TestBucketOfACardThatWasPlannedAtOnce(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{"", crashAfter, answerLost} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				plan := func() {
					w.faults.then = nil
					w.sprint("Sprint 1")
					w.plans(func(c *mapping.Card) { c.Iteration, c.Bucket, c.BucketName = sprintID, "", "" })
				}
				w.befall("CreateCard", f, func() { w.faults.then = plan })
				if f == "" {
					w.race("CreateTasks", plan)
				}
				w.agree()
				w.verifyShown()
				if !slices.Contains(w.issue().Labels, "bucket:Incoming") {
					w.fail("labels %q", w.issue().Labels)
				}
			})
		})
	}
}

// A card's data that only a listing has is not lost on a pair that is not worked meanwhile: nothing
// tells it again.
func TestListedWhileThePairIsNotWorked(t *testing.T) {
	t.Parallel()
	for name, out := range map[string]func(*world) (back func()){
		"its issue is kept out": func(w *world) func() {
			kept := w.issue().Labels
			w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(slices.Clip(kept), "plan:ignore") })
			return func() { w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = kept }) }
		},
		"its route is removed": (*world).unroute,
		"an operator parted it": func(w *world) func() {
			w.alter(func(l *mapping.Link) { l.Parted = true })
			return func() { w.alter(func(l *mapping.Link) { l.Parted = false }) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				both(linked, intoSprint("alice"))(w)
				w.settle()
				back := out(w)
				w.settle()
				w.plans(func(c *mapping.Card) { c.Users, c.Bucket, c.BucketName = []string{"carol"}, "b-later", "Later" })
				w.settle()
				back()
				w.lookAtAll()
				w.settle()
				w.verifyShown()
				assigned("ghost")(w)
			})
		})
	}
}

// Of a bucket's two ids the one that planning takes is tried first once that is
// known.
func TestRefusedIDOfABucketIsTriedOnce(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.plan.listed = "b-listed"
		tries := 0
		w.faults.armed, w.faults.at = true, -1
		w.faults.before = func(_ int, p point) {
			if p.name == "CreateCard" {
				tries++
			}
		}
		for range 3 {
			issue := w.hub.open(dev, reconcile.NewIssue{Title: "tok1"})
			w.observe(store.Observation{Refs: []mapping.Ref{mapping.IssueRef(issue.ID)}}, w.route.EnterIssue(&issue.Issue, time.Now().UTC()))
			w.settle()
		}
		if len(w.plan.cards) != 3 || tries != 4 {
			w.fail("%d cards with %d tries, want 3 with 4", len(w.plan.cards), tries)
		}
	})
}
