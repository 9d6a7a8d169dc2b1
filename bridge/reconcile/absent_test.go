package reconcile_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// crowd is how many links the tests of absence have.
const crowdSize = 40

// crowded opens issues until each has its card.
func (w *world) crowded() {
	for n := range crowdSize {
		w.openIssue(fmt.Sprint("tok", n), "text")
	}
	w.settle()
	w.verifyOneEach(crowdSize)
}

// all lists the links.
func (w *world) all() []*mapping.Link {
	links, _, err := w.store.List(context.Background(), project, "", 10*crowdSize)
	w.check(err)
	return links
}

// lookAtAll has every link read both items.
func (w *world) lookAtAll() {
	for _, l := range w.all() {
		w.look(l, true)
	}
}

// elapse goes on until some time has passed.
func (w *world) elapse(d time.Duration) {
	end := time.Now().Add(d)
	reached := false
	w.after(d, func() { reached = true })
	for !reached && len(w.errs) == 0 {
		w.step()
	}
	if time.Now().Before(end) {
		w.fail("it came to rest before %s", d)
	}
}

// count tells how many links are in a state, and how many comments say that something is gone.
func (w *world) count(state mapping.LinkState) (links, comments int) {
	for _, l := range w.all() {
		if l.State == state {
			links++
		}
	}
	for _, i := range w.hub.issues {
		for _, c := range i.comments {
			if strings.Contains(c.Body, "gone from the planning service") {
				comments++
			}
		}
	}
	return links, comments
}

func (w *world) expect(state mapping.LinkState, links, comments int) {
	gotLinks, gotComments := w.count(state)
	if gotLinks != links || gotComments != comments {
		w.fail("%d links are %s and %d comments say that a card is gone, want %d and %d", gotLinks, state, gotComments, links, comments)
	}
}

// TestPlanningAnswersNotFound: planning answers 404 for everything, or for all cards of a project.
// No link is orphaned meanwhile, and no issue gets a comment that its card is gone.
func TestPlanningAnswersNotFound(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]bool{"for the project, too": true, "for the cards": false} {
		for _, outage := range []time.Duration{35 * time.Second, 5 * time.Minute} {
			t.Run(fmt.Sprint(name, ", ", outage), func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) {
					w.crowded()
					w.plan.gone, w.plan.away = true, away
					w.lookAtAll()
					w.elapse(outage)
					w.expect(mapping.Orphaned, 0, 0)
					if n := strings.Count(w.log.String(), "so many items at once"); n > 1 {
						w.fail("it is said %d times", n)
					}
					w.plan.gone, w.plan.away = false, false
					w.wake()
					w.settle()
					w.expect(mapping.Linked, crowdSize, 0)
				})
			})
		}
	}
}

// TestManyCardsAreGone: cards that are gone together are believed to be gone when a later
// look confirms it, and one issue is told.
func TestManyCardsAreGone(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.crowded()
		w.plan.gone = true
		w.lookAtAll()
		w.elapse(9 * time.Minute)
		w.expect(mapping.Orphaned, 0, 0)
		w.settle()
		w.expect(mapping.Orphaned, crowdSize, 1)
		if n := strings.Count(w.log.String(), "so many items at once"); n != 1 {
			w.fail("it is said %d times", n)
		}
	})
}

// TestOneCardIsGone: a single card that is gone orphans its link soon. The issue is told
// when a later look confirms it, and not where the card is back by then.
func TestOneCardIsGone(t *testing.T) {
	t.Parallel()
	for _, back := range []bool{false, true} {
		t.Run(fmt.Sprint("back ", back), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.plan.gone = true
				w.look(w.link(), true)
				w.elapse(2 * time.Minute)
				w.expect(mapping.Orphaned, 1, 0)
				w.plan.gone = !back
				w.settle()
				if back {
					w.expect(mapping.Linked, 1, 0)
				} else {
					w.expect(mapping.Orphaned, 1, 1)
				}
			})
		})
	}
}

// TestManyIssuesAreGone: while GitHub answers 404 for all issues of a repository that is
// there itself, no link is orphaned.
func TestManyIssuesAreGone(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.crowded()
		w.hub.gone = true
		w.lookAtAll()
		w.elapse(5 * time.Minute)
		w.expect(mapping.Orphaned, 0, 0)
		w.hub.gone = false
		w.settle()
		w.expect(mapping.Linked, crowdSize, 0)
	})
}

// TestAbsenceAcrossARestart: a process that begins in the middle of such an outage does not
// orphan the links that it looks at first.
func TestAbsenceAcrossARestart(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.crowded()
		w.plan.gone = true
		w.lookAtAll()
		w.elapse(20 * time.Second)
		w.restart()
		w.elapse(4 * time.Minute)
		w.expect(mapping.Orphaned, 0, 0)
		w.plan.gone = false
		w.settle()
		w.expect(mapping.Linked, crowdSize, 0)
	})
}

// TestTrackingTaskWhilePlanningAnswersNotFound: a state that changes while planning answers
// 404 is written to the task that is there, and not to a second one.
func TestTrackingTaskWhilePlanningAnswersNotFound(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]bool{"for the project, too": true, "for cards and tasks": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.plan.gone, w.plan.away = true, away
				w.editIssue(mapping.State, to(mapping.StateDone))
				w.elapse(25 * time.Second)
				w.plan.gone, w.plan.away = false, false
				w.wake()
				w.settle()
				w.verify(ends{want: values{mapping.State: mapping.StateDone}})
			})
		})
	}
}
