package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// unanswered is a card whose issue is made, but the answer is lost. A person removes the marker
// with the text 10 seconds later. The events of the two take openedAfter and editedAfter; negative:
// they are lost. The function then goes on.
func (w *world) unanswered(known mapping.Authorship, openedAfter, editedAfter time.Duration, then func(was string)) {
	w.hub.known = known
	w.hub.lag = func(int) time.Duration { return openedAfter }
	w.faults.armed, w.faults.draw = true, func(p point) fate {
		if p.name != "CreateIssue" || len(w.hub.issues) > 0 {
			return ""
		}
		w.after(10*time.Second, func() {
			was := w.issue().Body
			w.hub.lag = func(int) time.Duration { return editedAfter }
			w.editIssue(mapping.Summary, func(string) string { return "tok4" })
			w.hub.lag = nil
			then(was)
		})
		return answerLost
	}
	mirrored(w)
}

// TestMarkerGoesBeforeTheAnswer: the bridge made an issue, and a person removed its marker before
// its link had it. It is still that link's, whichever event reports it.
func TestMarkerGoesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for _, known := range []mapping.Authorship{mapping.Named, mapping.Answered} {
		for name, events := range map[string][2]time.Duration{
			"both in one moment": {20 * time.Second, 10 * time.Second},
			"only the edit":      {-1, time.Second},
			"the edit first":     {time.Minute, time.Second},
			"nothing is told":    {-1, -1},
		} {
			t.Run(fmt.Sprint(known, ", ", name), func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) {
					w.unanswered(known, events[0], events[1], func(string) {})
					w.settle()
					w.verify(ends{want: values{mapping.Title: "tok1", mapping.Summary: "tok4"}})
				})
			})
		}
	}
}

// An event that comes just before the link has what it found makes no lasting
// quarrel.
func TestMarkerGoesWhileTheIssueIsTaken(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		gone := false
		w.faults.before = func(_ int, p point) {
			if !gone || p.name != "Save" {
				return
			}
			gone = false
			issue, ref := w.issue().snapshot(dev), mapping.IssueRef(w.issue().ID)
			edit := w.issue().edits[0]
			edit.Item = ref
			w.observe(store.Observation{
				Refs: []mapping.Ref{ref}, Item: ref, At: issue.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&issue), Data: encode(issue), Event: encode(edit),
			}, w.route.EnterIssue(&issue, time.Now()))
		}
		w.unanswered(mapping.Answered, 20*time.Second, -1, func(string) { gone = true })
		w.after(time.Minute, func() {
			if l := w.link(); l.Synced.IsZero() || l.State != mapping.Linked {
				w.fail("it is not linked yet: %+v", l)
			}
		})
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok1", mapping.Summary: "tok4"}})
		if gone {
			w.fail("nothing was told")
		}
	})
}

// TestMarkerComesBackToAnothersIssue: an issue has become a card of its own, as nothing showed that
// the bridge had made it. It stays so, though its marker comes back. The card that waits for it
// gets another one.
func TestMarkerComesBackToAnothersIssue(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.hub.untold = mapping.ErrForbidden
		w.unanswered(mapping.Answered, -1, -1, func(was string) {
			i := w.issue()
			w.hub.change(i, dev, func(s *mapping.Issue) { s.Labels = append(s.Labels, "bug") })
			w.after(time.Minute, func() { w.hub.change(i, dev, func(s *mapping.Issue) { s.Body = was }) })
		})
		w.verifyTwoPairs()
	})
}

// The same of a card: it entered without its marker and got an issue of its own.
func TestMarkerComesBackToAnothersCard(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.faults.armed, w.faults.draw = true, func(p point) fate {
			if p.name != "CreateCard" || len(w.plan.cards) > 0 {
				return ""
			}
			w.after(0, func() {
				was := w.card().Summary.Value
				w.editCard(mapping.Summary, func(string) string { return "tok4" })
				w.after(30*time.Second, func() {
					w.editCard(mapping.Summary, func(now string) string { return now + was[strings.LastIndex(was, "\n\n"):] })
				})
			})
			return answerLost
		}
		linked(w)
		w.verifyTwoPairs()
	})
}

// verifyTwoPairs checks, once all has come to rest, that there are two pairs and
// that one of them says why.
func (w *world) verifyTwoPairs() {
	w.settle()
	if len(w.hub.issues) != 2 || len(w.plan.cards) != 2 {
		w.fail("%d issues and %d cards, want two of each", len(w.hub.issues), len(w.plan.cards))
	}
	links := w.links()
	for _, l := range links {
		if l.State != mapping.Linked || l.Issue.ID == 0 || l.Card.ID == "" {
			w.fail("link %+v", l)
		}
	}
	if len(links) != 2 || links[0].Issue.ID == links[1].Issue.ID || links[0].Card.ID == links[1].Card.ID {
		w.fail("%d links", len(links))
	}
	if !w.says("belongs to another link") {
		w.fail("nothing is said of it")
	}
}

// TestTasksThatLostTheirMarkersAreKnown: the tasks that the bridge made lost their markers, by an
// operator who had the pair taken apart, or by a person. Once the pair is linked again and the
// store is lost, none is made a second time, and no task of people's is marked.
func TestTasksThatLostTheirMarkersAreKnown(t *testing.T) {
	t.Parallel()
	apart := func(w *world) {
		w.takeApart()
		w.settle()
		w.verifyApart(nothingLeft)
	}
	relink := func(w *world) {
		w.alter(func(l *mapping.Link) { w.check(l.Relink()) })
	}
	for name, lose := range map[string]func(*world){
		"taken apart and linked again": func(w *world) { apart(w); relink(w); w.settle(); w.forget() },
		"taken apart twice": func(w *world) {
			apart(w)
			relink(w)
			w.settle()
			apart(w)
			relink(w)
			w.settle()
			w.forget()
		},
		"taken apart, linked again and lost at once":     func(w *world) { apart(w); relink(w); w.loseStore(); w.join() },
		"taken apart, and linked after the store's loss": func(w *world) { apart(w); w.loseStore(); w.join() },
		"a person took them off":                         func(w *world) { w.bare(); w.settle(); w.forget() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				tasksOfItems(w)
				w.restart()
				listed(w)
				w.settle()
				w.newTask("three")
				w.settle()
				lose(w)
				w.settle()
				w.verifyList("+two -one -three", "", 2)
				tracking := 0
				for _, t := range w.plan.tasks {
					text, marks := keys.Body(t.Summary.Value)
					if strings.HasPrefix(t.Title.Value, "GitHub ") {
						tracking++
					}
					if t.Title.Value == "three" && text != t.Summary.Value || strings.HasPrefix(t.Title.Value, "GitHub ") && len(marks) != 1 {
						w.fail("task %q says %q", t.Title.Value, t.Summary.Value)
					}
				}
				if tracking != 1 {
					w.fail("%d tracking tasks, want one", tracking)
				}
			})
		})
	}
}

// join is an operator who links the world's issue and card, of which the store knows nothing.
func (w *world) join() {
	issue := w.issue().snapshot(dev)
	link := w.route.JoinIssue(&issue, mapping.NameCard(w.card()), time.Now().UTC())
	w.observe(store.Observation{Refs: link.Refs()}, link)
}

// TestASubIssueIsEditedWhileItsPairIsParted: the pair is linked again, and the edit reaches the task.
func TestASubIssueIsEditedWhileItsPairIsParted(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.route.Tasks = mapping.TasksSubIssues
		w.restart()
		linked(w)
		w.settle()
		sub := w.openSub(0, "tok7", "what")
		w.settle()
		w.takeApart()
		w.settle()
		w.verifyApart(nothingLeft)
		w.editSub(sub, mapping.Title, func(mapping.Attribute, string) string { return "tok9" })
		w.settle()
		w.alter(func(l *mapping.Link) { w.check(l.Relink()) })
		w.settle()
		if w.taskOf("tok9") == nil {
			w.fail("the tasks are %q", w.tasksNow())
		}
	})
}
