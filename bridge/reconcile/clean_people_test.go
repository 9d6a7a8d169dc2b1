package reconcile_test

import (
	"testing"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// TestTakingApartPublishesNothing: the repository became public right after a write of ours ran
// over an edit. Labels go, and nobody is asked in public; the edit is back once the repository
// is private again.
func TestTakingApartPublishesNothing(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.decideBy(mapping.PolicyAsk)
		w.agree()
		w.hub.lag = func(int) time.Duration { return 45 * time.Second }
		w.race("EditIssue", func() { w.rewriteIssue(mapping.Title, "tok8") })
		w.rewriteCard(mapping.Title, "tok9")
		w.stepUntil(time.Now().Add(time.Hour), func() bool { return w.issue().Title == "tok9" })
		w.hub.public = true
		w.takeApart()
		w.settle()
		if i := w.issue(); len(i.comments) > 0 || len(ownLabels(i)) > 0 {
			w.fail("in public: comments %+v, labels %v", i.comments, i.Labels)
		}
		w.verifyGivenUp("acme/web is public")
		w.hub.public = false
		w.look(w.link(), true)
		w.settle()
		if i := w.issue(); i.Title != "tok8" || len(i.comments) != 1 {
			w.fail("in private again: title %q, comments %+v", i.Title, i.comments)
		}
		w.verifyApart(nothingLeft)
	})
}

// TestAMilestoneOfAPersonStays: a person gives the issue another milestone while its labels
// are taken off.
func TestAMilestoneOfAPersonStays(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		both(linked, intoSprint())(w)
		w.settle()
		w.hub.milestones = append(w.hub.milestones, mapping.Milestone{Number: 2, Title: "of people"})
		w.race("RemoveLabel", func() { w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Milestone = 2 }) })
		w.takeApart()
		w.settle()
		if w.issue().Milestone != 2 {
			w.fail("milestone %d, want that of the person", w.issue().Milestone)
		}
		if w.says("clean the milestone") {
			w.fail("the history says that a milestone was taken off")
		}
		w.verifyApart(nothingLeft)
	})
}

// TestTakingApartLetsPeopleGoFirst: the removals carry nobody's change.
func TestTakingApartLetsPeopleGoFirst(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		both(mirrored, intoSprint())(w)
		w.settle()
		writes := 0
		w.watched = func(s *reconcile.Step) {
			switch s.Effect.(type) {
			case reconcile.RemoveLabel, reconcile.EditIssue:
				if writes++; s.Ask.Rank != store.RankShown {
					w.fail("%T has the rank %v", s.Effect, s.Ask.Rank)
				}
			}
		}
		w.takeApart()
		w.settle()
		if writes < 3 {
			w.fail("%d writes: this test shows nothing", writes)
		}
		w.verifyApart(nothingLeft)
	})
}
