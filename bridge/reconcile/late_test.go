package reconcile_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"planbridge/mapping"
)

// lose makes the bridge's next calls of that name vanish, each with its answer.
func (w *world) lose(name string, times int) {
	w.beforeEach(name, func(n int, meets func(fate)) {
		if n <= times {
			meets(lost)
		}
	})
}

// loseTitle makes a pair of which the title tok9 was written to GitHub in vain, and
// tok5 is agreed on since.
func (w *world) loseTitle() {
	w.agree()
	w.lose("EditIssue", 1)
	w.editCard(mapping.Title, to("tok9"))
	w.settle()
	w.editCard(mapping.Title, to("tok5"))
	w.settle()
}

// arrive lets a write of ours take effect now that was lost before.
func (w *world) arrive(edit func(*mapping.Issue)) { w.hub.change(w.issue(), bot, edit) }

func titled(title string) func(*mapping.Issue) { return func(i *mapping.Issue) { i.Title = title } }

// lookAgain has both items read, as after a catch-up that found a difference.
func (w *world) lookAgain() {
	links, _, err := w.store.List(context.Background(), project, "", 10)
	w.check(err)
	w.look(links[0], true)
}

// lateWrites are writes of ours that arrive late, and what came between.
var lateWrites = []struct {
	name string
	lost func(*world) // a change of the card whose first write to GitHub is lost
	then func(*world) // the base afterwards
	come func(*world) // the lost write arrives, in the company of other edits
	look bool         // no event tells of it
	want map[mapping.Attribute]string
	// conflicts is how many there are at most.
	conflicts int
}{
	{
		name: "over a later title of planning",
		lost: func(w *world) { w.editCard(mapping.Title, to("tok9")) },
		then: func(w *world) { w.editCard(mapping.Title, to("tok5")) },
		come: func(w *world) { w.arrive(titled("tok9")) },
		want: map[mapping.Attribute]string{mapping.Title: "tok5"},
	},
	{
		name: "over a title of a person",
		lost: func(w *world) { w.editCard(mapping.Title, to("tok9")) },
		then: func(w *world) { w.editIssue(mapping.Title, to("tok5")) },
		come: func(w *world) { w.arrive(titled("tok9")) },
		want: map[mapping.Attribute]string{mapping.Title: "tok5"},
	},
	{
		name: "over a title of a person, told by no event", look: true,
		lost: func(w *world) { w.editCard(mapping.Title, to("tok9")) },
		then: func(w *world) { w.editIssue(mapping.Title, to("tok5")) },
		come: func(w *world) { w.arrive(titled("tok9")) },
		want: map[mapping.Attribute]string{mapping.Title: "tok5"},
	},
	{
		name: "over a title that nobody has seen yet",
		lost: func(w *world) { w.editCard(mapping.Title, to("tok9")) },
		then: func(w *world) { w.editCard(mapping.Title, to("tok5")) },
		come: func(w *world) { w.editIssue(mapping.Title, to("tok6")); w.arrive(titled("tok9")) },
		want: map[mapping.Attribute]string{mapping.Title: "tok6"},
	},
	{
		name: "over a title that nobody has seen yet, told by no event", look: true,
		lost: func(w *world) { w.editCard(mapping.Title, to("tok9")) },
		then: func(w *world) { w.editCard(mapping.Title, to("tok5")) },
		come: func(w *world) { w.editIssue(mapping.Title, to("tok6")); w.arrive(titled("tok9")) },
		want: map[mapping.Attribute]string{mapping.Title: "tok6"},
	},
	{
		name: "the value that was agreed on, over a title that nobody has seen yet",
		lost: func(w *world) { w.editCard(mapping.Title, to("tok9")) },
		come: func(w *world) { w.editIssue(mapping.Title, to("tok6")); w.arrive(titled("tok9")) },
		want: map[mapping.Attribute]string{mapping.Title: "tok6"},
	},
	{
		name: "the value that was agreed on, over a title that nobody has seen yet, told by no event", look: true,
		lost: func(w *world) { w.editCard(mapping.Title, to("tok9")) },
		come: func(w *world) { w.editIssue(mapping.Title, to("tok6")); w.arrive(titled("tok9")) },
		want: map[mapping.Attribute]string{mapping.Title: "tok6"},
	},
	{
		name: "a person writes on top of it",
		lost: func(w *world) { w.editCard(mapping.Title, to("tok9")) },
		then: func(w *world) { w.editCard(mapping.Title, to("tok5")) },
		come: func(w *world) { w.arrive(titled("tok9")); w.editIssue(mapping.Title, to("tok6")) },
		want: map[mapping.Attribute]string{mapping.Title: "tok5"}, conflicts: 1,
	},
	{
		name: "two late writes",
		lost: func(w *world) {
			w.editCard(mapping.Title, to("tok9"))
			w.after(45*time.Second, func() { w.editCard(mapping.Title, to("tok8")); w.lose("EditIssue", 1) })
		},
		then: func(w *world) { w.editIssue(mapping.Title, to("tok5")) },
		come: func(w *world) { w.arrive(titled("tok9")); w.arrive(titled("tok8")) },
		want: map[mapping.Attribute]string{mapping.Title: "tok5"},
	},
	{
		name: "a text over a later one",
		lost: func(w *world) { w.editCard(mapping.Summary, line("tok3", "tok3 tok9")) },
		then: func(w *world) { w.editIssue(mapping.Summary, line("tok3 tok9", "tok3 tok5")) },
		come: func(w *world) { w.arrive(func(i *mapping.Issue) { i.Body = "tok2\n\nmiddle\n\ntok3 tok9" }) },
		want: map[mapping.Attribute]string{mapping.Summary: "tok2\n\nmiddle\n\ntok3 tok5"},
	},
	{
		name: "a text over one that nobody has seen yet",
		lost: func(w *world) { w.editCard(mapping.Summary, line("tok3", "tok3 tok9")) },
		come: func(w *world) {
			w.editIssue(mapping.Summary, line("tok2", "tok2 tok6"))
			w.arrive(func(i *mapping.Issue) { i.Body = "tok2\n\nmiddle\n\ntok3 tok9" })
		},
		want: map[mapping.Attribute]string{mapping.Summary: "tok2 tok6\n\nmiddle\n\ntok3 tok9"},
	},
	{
		name: "a person adds to it, and takes nothing away",
		lost: func(w *world) { w.editCard(mapping.Summary, line("tok3", "tok3 tok9")) },
		then: func(w *world) { w.editCard(mapping.Summary, line("middle", "middle tok5")) },
		come: func(w *world) {
			w.arrive(func(i *mapping.Issue) { i.Body = "tok2\n\nmiddle\n\ntok3 tok9" })
			w.editIssue(mapping.Summary, line("tok2", "tok2 tok6"))
		},
		want: map[mapping.Attribute]string{mapping.Summary: "tok2 tok6\n\nmiddle tok5\n\ntok3 tok9"},
	},
	{
		name: "a person adds to it, told by no event", look: true,
		lost: func(w *world) { w.editCard(mapping.Summary, line("tok3", "tok3 tok9")) },
		then: func(w *world) { w.editCard(mapping.Summary, line("middle", "middle tok5")) },
		come: func(w *world) {
			w.arrive(func(i *mapping.Issue) { i.Body = "tok2\n\nmiddle\n\ntok3 tok9" })
			w.editIssue(mapping.Summary, line("tok2", "tok2 tok6"))
		},
		want: map[mapping.Attribute]string{mapping.Summary: "tok2 tok6\n\nmiddle tok5\n\ntok3 tok9"},
	},
	{
		name: "a closing after the issue was opened again",
		lost: func(w *world) { w.editCard(mapping.State, to(mapping.StateDone)) },
		then: func(w *world) { w.editCard(mapping.State, to(mapping.StateTodo)) },
		come: func(w *world) { w.arrive(func(i *mapping.Issue) { i.State, i.StateReason = "closed", "completed" }) },
		want: map[mapping.Attribute]string{mapping.State: mapping.StateTodo, mapping.Summary: "tok2\n\nmiddle\n\ntok3"},
	},
}

// The value of a late write of ours is nobody's edit, whatever is known of it and whichever value
// it ran over.
func TestLateWriteIsNoEdit(t *testing.T) {
	t.Parallel()
	title, summary := mapping.Title, mapping.Summary
	for _, c := range lateWrites {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.lose("EditIssue", 1)
				c.lost(w)
				w.settle()
				if c.then != nil {
					c.then(w)
					w.settle()
				}
				if c.look {
					w.hub.lag = never
				}
				c.come(w)
				if c.look {
					w.lookAgain()
				}
				for _, x := range []string{"tok9", "tok8", "tok5"} { // replaced by later words of people, or by what came back
					w.words.removed[word{title, x}], w.words.removed[word{summary, x}] = true, true
				}
				w.settle()
				w.verify(ends{want: c.want, conflicts: c.conflicts})
			})
		})
	}
}

// Of a late write no event told, and the read that shows it is the one before
// the next write to GitHub.
func TestLateWriteShowsBeforeTheNextOne(t *testing.T) {
	t.Parallel()
	for _, p := range []mapping.Policy{mapping.PolicyMerge, mapping.PolicyGitHub} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.decideBy(p)
				w.loseTitle()
				w.hub.lag = never
				w.arrive(titled("tok9"))
				w.editCard(mapping.Summary, line("tok2", "tok2 tok6"))
				w.settle()
				w.verify(ends{want: values{mapping.Title: "tok5", mapping.Summary: "tok2 tok6\n\nmiddle\n\ntok3"}})
			})
		})
	}
}

// TestLateWriteOfWhatWasWrittenAgain: a write is lost and made again, and a person edits its value.
// Then the lost one arrives, before and after the search for the echo of the second.
func TestLateWriteOfWhatWasWrittenAgain(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Duration{"before": 80 * time.Second, "after": 200 * time.Second} {
		for _, look := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, looked at %v", name, look), func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) {
					w.agree()
					w.lose("EditIssue", 1)
					w.hub.lag = never
					w.editCard(mapping.Title, to("tok9"))
					w.after(40*time.Second, func() {
						w.hub.lag = nil
						w.editIssue(mapping.Title, to("tok5"))
						w.hub.lag = never
					})
					w.after(at, func() {
						w.arrive(titled("tok9"))
						if look {
							w.lookAgain()
						}
					})
					w.settle()
					w.verify(ends{want: values{mapping.Title: "tok5"}})
				})
			})
		}
	}
}

// TestStaleReadAfterALateWrite: the read after the echo of a late write lags within the same
// second, and shows the replaced value. That value is gone, however long the issue has been
// waiting.
func TestStaleReadAfterALateWrite(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(*world, func()){
		"at once": func(w *world, do func()) {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // of fake time
			do()
		},
		"after a long wait": (*world).waitForLong,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.loseTitle()
				wait(w, func() {
					w.hub.lag = never
					w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "bug") })
					time.Sleep(200 * time.Millisecond)
					w.hub.lag, w.hub.stale = func(int) time.Duration { return 10 * time.Millisecond }, 150*time.Millisecond
					w.arrive(titled("tok9"))
				})
				w.settle()
				w.verify(ends{want: values{mapping.Title: "tok5"}})
			})
		})
	}
}

// A late write and the one that was made in its stead each ran over an edit, and only the late
// one's event comes. The value that the first of them ran over is not forgotten while reads lag
// behind the return of the other.
func TestLateWriteAndTheOneMadeInItsSteadRanOverEdits(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.hub.lag, w.hub.stale = never, 900*time.Millisecond
		w.beforeEach("EditIssue", func(n int, meets func(fate)) {
			switch n {
			case 1:
				meets(late)
			case 2:
				w.editIssue(mapping.Summary, line("tok2", "tok2 tok8"))
				w.after(lateness/2, func() {
					w.editIssue(mapping.Summary, line("middle", "middle tok7"))
					w.hub.lag = nil
				})
			}
		})
		w.editCard(mapping.Summary, line("tok3", "tok3 tok9"))
		w.settle()
		w.verify(ends{want: values{mapping.Summary: "tok2 tok8\n\nmiddle tok7\n\ntok3 tok9"}})
	})
}

// The same value typed by a person is an edit.
func TestOldValueTypedByAPersonIsAnEdit(t *testing.T) {
	t.Parallel()
	for name, lag := range map[string]func(int) time.Duration{"by its event": nil, "by GitHub's memory": never} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.loseTitle()
				w.hub.lag = lag
				w.editIssue(mapping.Title, to("tok9"))
				w.lookAgain()
				w.settle()
				w.verify(ends{want: map[mapping.Attribute]string{mapping.Title: "tok9"}})
			})
		})
	}
}

// GitHub's memory tells again of an edit that was dealt with. It is not taken
// for a late effect of an earlier write of the same value, which was lost.
func TestRememberedEditIsNoLateWrite(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		writes := w.beforeEach("EditIssue", func(n int, meets func(fate)) {
			switch n {
			case 1, 3: // the second one runs over an edit, which the third brings back
				meets(lost)
			case 2:
				w.editIssue(mapping.Summary, line("tok2", "tok2 tok6"))
			case 4:
				w.hub.lag = never
			}
		})
		w.editCard(mapping.Summary, line("tok3", "tok3 tok9"))
		w.settle()
		w.verify(ends{want: map[mapping.Attribute]string{mapping.Summary: "tok2 tok6\n\nmiddle\n\ntok3 tok9"}})
		w.expectHistory("late", 0)
		if *writes != 4 || w.hub.asked == 0 {
			w.fail("%d writes, GitHub asked %d times", *writes, w.hub.asked)
		}
	})
}
