package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
		if n := len(w.issue().closings); n != 1 || reason != "" && w.issue().StateReason != reason {
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

// TestReopenedBehindALostClose: whatever becomes of the write that closes an
// issue for its review, what a person does right after it is not undone.
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

// TestMilestonesOfALostStore: where the book is lost the marker tells which
// milestone is a sprint's, also behind a description that people wrote anew
// while the book was there.
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

// What a person wrote right before something was shown, and the answer to that
// shows first, is no less an edit: its own event tells nothing new then.
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

// A label that shows the card is taken off, of which no event tells, and what is
// shown after the labels brings the first sight of that.
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

// TestShowingIsPutOffWithWhatItSaw: a label whose answer was lost, and that is
// no longer wanted when the labels have their turn again, is taken off, though
// its event came before that turn.
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
