package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// TestBothSidesSeemToMeet: a poll sees a task done. It is taken up again before the issue is
// closed, so that the two states are in conflict, and the close is kept.
func TestBothSidesSeemToMeet(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		withTasks(w)
		w.restart()
		w.agree()
		w.every = time.Minute
		w.editCard(mapping.State, to(mapping.StateDone))
		w.poll()
		w.editCard(mapping.State, to(mapping.StateInProgress))
		w.editIssue(mapping.State, to(mapping.StateDone))
		w.settle()
		w.verify(ends{want: values{mapping.State: mapping.StateInProgress}, conflicts: 1})
		if n := len(w.conflicts()); n != 1 {
			w.fail("%d conflicts", n)
		}
	})
}

// TestUndoBeforeTheWinnerIsWritten: an operator undoes a conflict whose winner has not reached
// GitHub yet. First the winner gets there, and then the loser comes back.
func TestUndoBeforeTheWinnerIsWritten(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.decideBy(mapping.PolicyPlanning)
		w.agree()
		w.befall("EditIssue", unavailable, func() {})
		w.editCard(mapping.Title, to("tok9"))
		w.editIssue(mapping.Title, to("tok8"))
		w.stepUntil(time.Now().Add(time.Minute), func() bool { return len(w.conflicts()) == 1 })
		w.alter(func(l *mapping.Link) { l.Undo = map[mapping.Attribute]string{mapping.Title: w.conflicts()[0].ID} })
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok8"}, conflicts: 1})
		if c := w.conflicts()[0]; c.State != mapping.ConflictUndone {
			w.fail("the conflict is %s", c.State)
		}
	})
}

// TestUndoOnAOneWayRouteWhoseAnswerIsLost: the loser stands in planning again, and does not cross.
// The conflict is undone all the same.
func TestUndoOnAOneWayRouteWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.route.Direction = mapping.ToPlanning
		w.restart()
		w.agree()
		w.editCard(mapping.Title, to("tok9"))
		w.editIssue(mapping.Title, to("tok8"))
		w.settle()
		w.befall("UpdateCard", answerLost, func() {})
		w.alter(func(l *mapping.Link) { l.Undo = map[mapping.Attribute]string{mapping.Title: w.conflicts()[0].ID} })
		w.settle()
		if g, p := w.issue().Title, w.card().Title.Value; g != "tok8" || p != "tok9" {
			w.fail("the titles are %q and %q", g, p)
		}
		if c, failed := w.conflicts()[0], w.failures(); c.State != mapping.ConflictUndone || len(failed) > 0 {
			w.fail("the conflict is %s, the failures are %+v", c.State, failed)
		}
	})
}

// TestUndoWherePlanningRewritesWhatItStores: planning stores the winner, or the loser, in a
// spelling of its own. That is no change of anybody, and the loser comes back.
func TestUndoWherePlanningRewritesWhatItStores(t *testing.T) {
	t.Parallel()
	for _, policy := range []mapping.Policy{mapping.PolicyPlanning, mapping.PolicyGitHub} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.decideBy(policy)
				w.plan.stored = func(s string) string { return strings.ReplaceAll(s, "* ", "- ") }
				w.agree()
				w.editCard(mapping.Summary, to("* tok9"))
				w.editIssue(mapping.Summary, to("* tok8"))
				w.settle()
				if w.alter(func(l *mapping.Link) { l.Undo = map[mapping.Attribute]string{mapping.Summary: w.conflicts()[0].ID} }); len(w.errs) > 0 {
					return
				}
				w.settle()
				if c := w.conflicts()[0]; c.State != mapping.ConflictUndone {
					w.fail("the conflict is %s: %q and %q", c.State, w.issue().Body, w.card().Summary.Value)
				}
			})
		})
	}
}

// TestUndoWhileTheWinnerIsWithheld: the repository becomes public before the winner reaches GitHub,
// where it is not to be shown. The undo waits for the end of that, as the winner does.
func TestUndoWhileTheWinnerIsWithheld(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.decideBy(mapping.PolicyPlanning)
		w.agree()
		w.befall("EditIssue", unavailable, func() { w.hub.public = true })
		w.editCard(mapping.Title, to("tok9"))
		w.editIssue(mapping.Title, to("tok8"))
		w.stepUntil(time.Now().Add(time.Minute), func() bool { return len(w.conflicts()) == 1 })
		w.alter(func(l *mapping.Link) { l.Undo = map[mapping.Attribute]string{mapping.Title: w.conflicts()[0].ID} })
		w.settle()
		if title := w.issue().Title; title != "tok8" {
			w.fail("the public issue has the title %q", title)
		}
		w.hub.public = false
		w.touch()
		w.verify(ends{want: values{mapping.Title: "tok8"}, conflicts: 1})
		if c := w.conflicts()[0]; c.State != mapping.ConflictUndone {
			w.fail("the conflict is %s", c.State)
		}
	})
}

// TestUndoBesideAChecklistWhileTheWinnerIsWithheld is the same for the text around a checklist.
func TestUndoBesideAChecklistWhileTheWinnerIsWithheld(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.decideBy(mapping.PolicyPlanning)
		w.route.Tasks = mapping.TasksChecklist
		w.restart()
		w.openIssue("Title", "tok2\n\n- [ ] item tok3")
		w.settle()
		w.befall("EditIssue", unavailable, func() { w.hub.public = true })
		w.editCard(mapping.Summary, line("tok2", "tok9"))
		w.editIssue(mapping.Summary, line("tok2", "tok8"))
		w.stepUntil(time.Now().Add(time.Minute), func() bool { return len(w.conflicts()) == 1 })
		w.alter(func(l *mapping.Link) { l.Undo = map[mapping.Attribute]string{mapping.Summary: w.conflicts()[0].ID} })
		w.settle()
		if failed := w.failures(); len(failed) != 1 || !strings.Contains(failed[0].Reason, "is public") {
			w.fail("while it waits, the failures are %+v", failed)
		}
		w.hub.public = false
		w.touch()
		w.settle()
		if body := w.issue().Body; !strings.Contains(body, "tok8") || !strings.Contains(body, "item tok3") {
			w.fail("the loser does not stand beside the list: %q", body)
		}
		if c := w.conflicts()[0]; c.State != mapping.ConflictUndone {
			w.fail("the conflict is %s", c.State)
		}
	})
}

// TestParentThatNothingTellsOf: nothing tells of an issue that was opened while its repository
// was public. It gets a card when a person opens an issue below it.
func TestParentThatNothingTellsOf(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		withTasks(w)
		w.firstRun = func(string) time.Time { return time.Now().Add(-time.Hour) }
		w.restart()
		w.hub.lag = never
		w.openIssue("tok1", "")
		w.hub.lag, w.hub.told[w.issue().ID] = nil, sight(&w.issue().Issue)
		w.openSub(0, "tok5", "")
		w.settle()
		w.verifyFamily(1, member{title: "tok5", state: mapping.StateTodo})
	})
}

// TestCardThatWaitsFollowsItsBucket: a card waits for its repository to be looked through, and then
// another route takes its bucket. Nothing was made yet: its issue is made by that one.
func TestCardThatWaitsFollowsItsBucket(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		web := w.route
		w.route.Name, w.route.Repositories, w.route.NewCardsIn = "elsewhere", []string{"acme/elsewhere"}, "acme/elsewhere"
		w.restart()
		mirrored(w)
		if !w.stepUntil(time.Now().Add(time.Minute), func() bool { return strings.Contains(w.log.String(), "no issue is made in acme/elsewhere") }) {
			w.fail("it does not wait")
		}
		w.route = web
		w.restart()
		_, err := w.store.Wake(context.Background(), w.worked()[0], reconcile.ServiceListing("acme/elsewhere"), 100)
		w.check(err)
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok1"}})
	})
}
