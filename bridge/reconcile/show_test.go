package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"planbridge/bridge/effects"
	"planbridge/mapping"
	"planbridge/store"
)

const sprintID = mapping.ObjectID("5447f1e2c955ca8169c61f01")

// plans changes the card as people do in planning where the API cannot.
func (w *world) plans(edit func(*mapping.Card)) {
	edit(w.card())
	w.card().Version++
}

func (w *world) review(verdict string) {
	w.plans(func(c *mapping.Card) { c.Review = verdict })
}

// sprint is what a poll stores of the only sprint.
func (w *world) sprint(title string) {
	sprints := []mapping.Sprint{{ID: sprintID, Title: title, End: time.Date(2031, 3, 4, 23, 30, 0, 0, time.UTC)}}
	w.check(w.store.PutDoc(context.Background(), project, store.DocSprints, encode(sprints)))
}

func intoSprint(users ...string) func(*world) {
	return func(w *world) {
		w.sprint("Sprint 1")
		w.plans(func(c *mapping.Card) { c.Iteration, c.Users = sprintID, append([]string{}, users...) })
	}
}

func both(first, then func(*world)) func(*world) {
	return func(w *world) { first(w); w.settle(); then(w) }
}

// verifyShown checks that the issue shows its card.
func (w *world) verifyShown() {
	i, c := w.issue(), w.card()
	if add, remove := mapping.ProjectLabels(i.Labels, c, scheme); len(add)+len(remove) > 0 {
		w.fail("labels %q: %q are missing, %q are too many", i.Labels, add, remove)
	}
	if milestone := i.Milestone; (milestone != 0) != (c.Iteration != "") {
		w.fail("milestone %d in sprint %q", milestone, c.Iteration)
	}
	if len(w.hub.milestones) > 1 {
		w.fail("milestones %+v, want one", w.hub.milestones)
	}
}

// closedOnce checks that the bridge closed the issue a single time, for a reason.
func closedOnce(reason string) func(*world) {
	return func(w *world) {
		open := func(e ghEvent) bool { return e.Event != mapping.ActClosed }
		if n := len(slices.DeleteFunc(slices.Clone(w.issue().events), open)); n != 1 || reason != "" && w.issue().StateReason != reason {
			w.fail("closed %d times, last as %s; want once as %s", n, w.issue().StateReason, reason)
		}
	}
}

func assigned(logins ...string) func(*world) {
	return func(w *world) {
		if got := slices.Sorted(slices.Values(w.issue().Assignees)); !slices.Equal(got, logins) {
			w.fail("assigned are %q, want %q", got, logins)
		}
	}
}

// showings are what only planning says.
func showings() []scenario {
	reopen := func(w *world) {
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.State, i.StateReason = "open", "reopened" })
	}
	return []scenario{
		{name: "a card moves to a bucket, its tasks go on", before: linked, do: func(w *world) {
			w.plans(func(c *mapping.Card) {
				c.Bucket, c.BucketName, c.Counters = "b-later", "Later", &mapping.Counters{Status: "in-progress"}
			})
		}},
		{name: "people take a label off and put another on", before: mirrored, do: func(w *world) {
			w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = []string{"points/3", "bucket:Mine", "mine"} })
		}},
		{
			name: "a card is approved", before: linked, do: func(w *world) { w.review("Approved") },
			ends: ends{want: values{mapping.State: mapping.StateDone}, also: closedOnce("completed")},
		},
		{
			name: "a card is rejected", before: mirrored, do: func(w *world) { w.review("Rejected") },
			ends: ends{want: values{mapping.State: mapping.StateDone}, also: closedOnce("not_planned")},
		},
		{
			name: "a card is approved in part", before: linked, do: func(w *world) { w.review("Partially") },
			ends: ends{want: values{mapping.State: mapping.StateTodo}},
		},
		{name: "an approved card's issue is reopened", before: linked, do: func(w *world) {
			w.review("Approved")
			w.after(15*time.Minute, func() { reopen(w) })
		}, ends: ends{want: values{mapping.State: mapping.StateTodo}, also: closedOnce("reopened")}},
		{name: "a card enters a sprint", before: linked, do: intoSprint("alice", "bob"), ends: ends{also: assigned(dev)}},
		{name: "a card enters a sprint and gets a title", before: linked, do: func(w *world) {
			intoSprint()(w)
			w.editCard(mapping.Title, to("tok9"))
		}, ends: ends{want: values{mapping.Title: "tok9"}}},
		{name: "a card leaves its sprint", before: both(mirrored, intoSprint("alice")), do: func(w *world) {
			w.plans(func(c *mapping.Card) { c.Iteration, c.Users = "", nil })
		}, ends: ends{also: assigned()}},
		{name: "people take an assignee off", before: both(linked, intoSprint("alice")), do: func(w *world) {
			w.hub.change(w.issue(), "monalisa", func(i *mapping.Issue) { i.Assignees = []string{"monalisa"} })
		}, ends: ends{also: assigned("monalisa", dev)}},
		{name: "people take the milestone off", before: both(linked, intoSprint()), do: func(w *world) {
			w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Milestone = 0 })
		}},
	}
}

// TestReopenedBehindALostClose: whichever fault the write meets that closes an issue for its
// review, a person's act right after it is not undone.
func TestReopenedBehindALostClose(t *testing.T) {
	t.Parallel()
	for _, befalls := range []fate{crashAfter, answerLost} {
		for _, before := range []string{"", "reopened"} { // it may have been closed and opened long ago
			t.Run(fmt.Sprintf("%s, %s before", befalls, before), func(t *testing.T) {
				t.Parallel()
				err := inWorld(t, func(w *world) {
					w.agree()
					w.issue().StateReason = before
					w.faults.armed, w.faults.draw = true, func(p point) fate {
						if p.name != "EditIssue" || w.faults.fired {
							return ""
						}
						return befalls
					}
					w.faults.then = func() {
						w.faults.then = nil
						w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.State, i.StateReason = "open", "reopened" })
					}
					w.review("Approved")
					w.settle()
					w.faults.armed = false
					w.verify(ends{want: values{mapping.State: mapping.StateTodo}, also: closedOnce("")})
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestWhoCannotBeAssigned is tried once, and again when the card's users change.
func TestWhoCannotBeAssigned(t *testing.T) {
	passes(t, func(w *world) {
		w.hub.strangers = []string{"ghost"}
		w.agree()
		intoSprint("carol")(w)
		w.settle()
		writes := w.hub.writes
		w.editIssue(mapping.Title, to("tok9"))
		w.settle()
		if w.hub.writes != writes {
			w.fail("%d writes for somebody who cannot be assigned", w.hub.writes-writes)
		}
		w.hub.strangers = nil
		w.plans(func(c *mapping.Card) { c.Users = []string{"alice", "carol"} })
		w.settle()
		assigned("ghost", dev)(w)
	})
}

// TestShownCosts: labels cost their calls and nothing more, and what is as it
// was costs nothing.
func TestShownCosts(t *testing.T) {
	passes(t, func(w *world) {
		w.agree()
		w.faults.armed, w.faults.at = true, -1
		calls := func(do func()) (n map[string]int) {
			w.faults.points, n = nil, map[string]int{}
			do()
			w.settle()
			for _, p := range w.faults.points {
				if p.kind != "store" {
					n[p.name]++
				}
			}
			return n
		}
		status := func(s string) func() {
			return func() { w.plans(func(c *mapping.Card) { c.Counters = &mapping.Counters{Status: s} }) }
		}
		for _, tt := range []struct {
			what string
			do   func()
			want map[string]int
		}{
			{"a status", status("todo"), map[string]int{"AddLabels": 1}},
			{"another", status("done"), map[string]int{"AddLabels": 1, "RemoveLabel": 1}},
			{"the same", status("done"), map[string]int{}},
			{"a version", func() { w.plans(func(*mapping.Card) {}) }, map[string]int{}},
			{"a sprint", func() { intoSprint()(w) }, map[string]int{"Milestones": 1, "PutMilestone": 1, "Issue": 1, "EditIssue": 1}},
			{"an edit on GitHub", func() { w.editIssue(mapping.Title, to("tok5")) }, map[string]int{"UpdateCard": 1}},
		} {
			got := calls(tt.do)
			if tt.what == "another" {
				delete(got, "Issue") // two events of one second force a read
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				w.fail("%s cost %v, want %v", tt.what, got, tt.want)
			}
		}
	})
}

var _ effects.Shows = (*hub)(nil)

// TestEditThatAnAnswerShowsFirst: a person edits right before a projection, whose answer is the
// first to show the edit. It is still an edit, though its own event has no news then.
func TestEditThatAnAnswerShowsFirst(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.race("EditIssue", func() {
			w.editIssue(mapping.Title, to("tok7"))
			time.Sleep(2 * time.Second) // the milestone is set in another second
		})
		intoSprint()(w)
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok7"}})
	})
}

// TestRemovedLabelThatAnAnswerShowsFirst: a label that shows the card is removed, and no event
// reports it. The projection after the labels is the first to show that.
func TestRemovedLabelThatAnAnswerShowsFirst(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.hub.lag = never
		w.showAnything(mapping.GitHub, 0)
		w.hub.lag = nil
		intoSprint()(w)
		w.settle()
		w.verifyShown()
	})
}

// TestShowingIsPutOffWithWhatItSaw: the answer to a label was lost, and the label is no longer
// wanted when the labels have their turn again. It is removed, though its event came before that
// turn.
func TestShowingIsPutOffWithWhatItSaw(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		status := func(s string) { w.plans(func(c *mapping.Card) { c.Counters = &mapping.Counters{Status: s} }) }
		w.agree()
		status("in-progress")
		w.settle()
		w.faults.armed, w.faults.draw = true, func(p point) fate {
			if p.name != "AddLabels" || w.faults.fired {
				return ""
			}
			return answerLost
		}
		w.faults.then = func() {
			w.faults.then = nil
			status("in-progress")
			w.poll()
		}
		status("done")
		w.settle()
		if !w.faults.fired {
			w.fail("no label was added")
		}
		w.verifyShown()
	})
}

// TestNoLabelGoesWithoutItsColour: while request points are short, a label that the repository
// lacks waits. GitHub would make it without its colour once an issue gets it.
func TestNoLabelGoesWithoutItsColour(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(w *world)
		want []string
	}{
		"a card moves to a bucket": {func(w *world) {
			w.agree()
			w.hub.pointsShort = 3
			w.plans(func(c *mapping.Card) {
				c.Bucket, c.BucketName, c.Counters = "b-later", "Later", &mapping.Counters{Status: "in-progress"}
			})
		}, []string{"bucket:Later", "plan:In Progress"}},
		"an issue is made for a card": {func(w *world) {
			w.hub.pointsShort = 3
			w.addCard("tok1", body, "")
		}, []string{"bucket:Incoming"}},
		"people are asked": {func(w *world) {
			policy(mapping.PolicyAsk)(w)
			w.restart()
			w.agree()
			w.hub.pointsShort = 3
			w.editIssue(mapping.Title, to("tok8"))
			w.rewriteCard(mapping.Title, "tok9")
		}, []string{"plan:conflict"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				c.do(w)
				w.settle()
				for _, label := range c.want {
					if !slices.Contains(w.issue().Labels, label) {
						w.fail("the issue lacks %s: %q", label, w.issue().Labels)
					}
					if w.hub.colors[label] == "" {
						w.fail("label %s has no colour: %v", label, w.hub.colors)
					}
				}
				if w.hub.pointsShort > 0 {
					w.fail("no label was asked for while points were short")
				}
			})
		})
	}
}
