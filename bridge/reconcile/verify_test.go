package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// never loses an event.
func never(int) time.Duration { return -1 }

// race lets a person do something right before the bridge's next call of that
// name.
func (w *world) race(name string, do func()) {
	w.faults.armed = true
	w.faults.before = func(_ int, p point) {
		if p.name == name && do != nil {
			now := do
			do = nil
			now()
		}
	}
}

// befall lets a fate befall the bridge's first call of that name, which comes
// right after a person has done something.
func (w *world) befall(name string, f fate, do func()) {
	w.beforeEach(name, func(n int, meets func(fate)) {
		if n == 1 {
			meets(f)
			do()
		}
	})
}

// history is the link's, oldest first.
func (w *world) history() (what []string) {
	links, _, err := w.store.List(context.Background(), project, "", 10)
	w.check(err)
	for _, l := range links {
		entries, err := w.store.History(context.Background(), store.Key{Project: project, Link: l.ID}, 100)
		w.check(err)
		for _, e := range entries {
			what = append(what, e.What)
		}
	}
	slices.Reverse(what)
	return what
}

func (w *world) expectHistory(what string, times int) {
	n := 0
	for _, h := range w.history() {
		if h == what {
			n++
		}
	}
	if n != times {
		w.fail("the history tells %d times of %q, want %d: %v", n, what, times, w.history())
	}
}

// A write whose echo never comes is looked for in what GitHub remembers, and
// an edit that it ran over comes back.
func TestOverdueEchoIsLookedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		attr   mapping.Attribute
		card   func(string) string // the event on the card
		issue  func(string) string // a person's act right before it is written
		untold error
		ends   ends
		lost   int
	}{
		{
			name: "no edit was run over", attr: mapping.Title, card: to("tok9"),
			ends: ends{want: map[mapping.Attribute]string{mapping.Title: "tok9"}},
		},
		{
			name: "a title", attr: mapping.Title, card: to("tok9"), issue: to("tok8"), lost: 1,
			ends: ends{want: map[mapping.Attribute]string{mapping.Title: "tok9"}, conflicts: 1},
		},
		{
			name: "a text that merges", attr: mapping.Summary, card: line("tok3", "tok3 tok9"), issue: line("tok2", "tok2 tok8"), lost: 1,
			ends: ends{want: map[mapping.Attribute]string{mapping.Summary: "tok2 tok8\n\nmiddle\n\ntok3 tok9"}},
		},
		{
			name: "a text that does not", attr: mapping.Summary, card: line("tok3", "tok3 tok9"), issue: line("tok3", "tok3 tok8"), lost: 1,
			ends: ends{want: map[mapping.Attribute]string{mapping.Summary: "tok2\n\nmiddle\n\ntok3 tok9"}, conflicts: 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.hub.lag = never
				if c.issue != nil {
					w.race("EditIssue", func() { w.editIssue(c.attr, c.issue) })
				}
				w.editCard(c.attr, c.card)
				w.settle()
				w.verify(c.ends)
				w.expectHistory("lost update", c.lost)
				if w.hub.asked == 0 {
					w.fail("GitHub was never asked")
				}
			})
		})
	}
}

// Where GitHub does not tell, the history says that nobody can know, and the
// record goes.
func TestOverdueEchoUntold(t *testing.T) {
	t.Parallel()
	for name, untold := range map[string]error{
		"forbidden": fmt.Errorf("edits: %w", mapping.ErrForbidden), "not there": fmt.Errorf("edits: %w", mapping.ErrNotFound),
		"an older server": fmt.Errorf("edits: %w", mapping.ErrRejected),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.hub.lag, w.hub.untold = never, untold
				w.editCard(mapping.Title, to("tok9"))
				w.settle()
				w.verify(ends{want: map[mapping.Attribute]string{mapping.Title: "tok9"}})
				w.expectHistory("unverified", 1)
			})
		})
	}
}

// While GitHub cannot be asked the record stays, and everything else goes on.
func TestOverdueEchoWhileGitHubIsAway(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.hub.lag, w.hub.untold = never, fmt.Errorf("edits: %w", mapping.ErrUnavailable)
		w.race("EditIssue", func() { w.editIssue(mapping.Summary, line("tok2", "tok2 tok8")) })
		w.editCard(mapping.Summary, line("tok3", "tok3 tok9"))
		w.after(3*settleGitHub, func() { w.hub.untold = nil })
		w.settle()
		w.verify(ends{want: map[mapping.Attribute]string{mapping.Summary: "tok2 tok8\n\nmiddle\n\ntok3 tok9"}})
		w.expectHistory("lost update", 1)
	})
}

// TestSeveralWritesAwaitTheirEchoes: several writes to one attribute are under way at once, back to
// a value that was written before. Their echoes come late, in another order, or not.
func TestSeveralWritesAwaitTheirEchoes(t *testing.T) {
	t.Parallel()
	minutes := func(n ...int) func(int) time.Duration {
		first := 0
		return func(d int) time.Duration {
			if first == 0 {
				first = d
			}
			if d -= first; d < len(n) {
				return time.Duration(n[d]) * time.Minute
			}
			return time.Second
		}
	}
	for name, lag := range map[string]func(int) time.Duration{
		"in order": minutes(1, 1, 1, 1), "backwards": minutes(9, 7, 5, 3), "mixed": minutes(3, -1, 2, 5), "never": never,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.hub.lag = lag
				for n, title := range []string{"tok4", "tok5", "tok4", "tok6"} {
					w.after(time.Duration(n)*40*time.Second, func() { w.editCard(mapping.Title, to(title)) })
				}
				w.settle()
				w.words.removed[word{mapping.Title, "tok4"}] = true
				w.verify(ends{want: map[mapping.Attribute]string{mapping.Title: "tok6"}})
				w.expectHistory("lost update", 0)
			})
		})
	}
}

// A person's edit that one of several writes under way ran over comes back,
// once, whichever echo tells of it first.
func TestOneOfSeveralWritesRanOverAnEdit(t *testing.T) {
	t.Parallel()
	for name, lag := range map[string]func(int) time.Duration{
		"late":      func(int) time.Duration { return 90 * time.Second },
		"backwards": func(n int) time.Duration { return time.Duration(max(1, 20-n)) * 20 * time.Second },
		"never":     never,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.hub.lag = lag
				w.race("EditIssue", func() { w.editIssue(mapping.Summary, line("middle", "middle tok7")) })
				w.editCard(mapping.Summary, line("tok3", "tok3 tok8"))
				w.after(45*time.Second, func() { w.editCard(mapping.Summary, line("tok2", "tok2 tok9")) })
				w.settle()
				w.verify(ends{want: map[mapping.Attribute]string{mapping.Summary: "tok2 tok9\n\nmiddle tok7\n\ntok3 tok8"}})
				w.expectHistory("lost update", 1)
				if n := strings.Count(w.card().Summary.Value, "tok7"); n != 1 {
					w.fail("the edit stands %d times", n)
				}
			})
		})
	}
}

// TestFirstOfTwoWritesOfOneValueRanOverAnEdit: two writes of one value await their echoes. Each was
// made from the same value, and the first ran over an edit. The echo of the second does not show
// that.
func TestFirstOfTwoWritesOfOneValueRanOverAnEdit(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.hub.lag = never
		w.race("EditIssue", func() { w.editIssue(mapping.Title, to("tok8")) })
		w.editCard(mapping.Title, to("tok9"))
		w.after(40*time.Second, func() {
			w.hub.lag = nil
			w.editIssue(mapping.Title, to("tok1"))
			w.hub.lag = never
		})
		w.after(70*time.Second, func() { w.editCard(mapping.Title, to("tok9")) })
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok9"}, conflicts: 1})
	})
}

// A write whose process died before its answer came ran over an edit.
func TestLostAnswerRanOverAnEdit(t *testing.T) {
	t.Parallel()
	for name, lag := range map[string]func(int) time.Duration{"echoed": nil, "never echoed": never} {
		for _, f := range []fate{crashAfter, answerLost} {
			t.Run(name+", "+string(f), func(t *testing.T) {
				t.Parallel()
				passes(t, func(w *world) {
					w.agree()
					w.hub.lag = lag
					w.befall("EditIssue", f, func() { w.editIssue(mapping.Summary, line("tok2", "tok2 tok8")) })
					w.editCard(mapping.Summary, line("tok3", "tok3 tok9"))
					w.settle()
					w.verify(ends{want: map[mapping.Attribute]string{mapping.Summary: "tok2 tok8\n\nmiddle\n\ntok3 tok9"}})
					w.expectHistory("lost update", 1)
				})
			})
		}
	}
}

// A write whose answer was lost ran over an edit, its echo never comes, and
// somebody has written something else since: only GitHub's memory tells.
func TestLostAnswerRanOverAnEditAndWasReplaced(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{crashAfter, answerLost} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.hub.lag = never
				w.befall("EditIssue", f, func() { w.editIssue(mapping.Title, to("tok8")) })
				w.faults.then = func() {
					w.faults.then = nil
					w.words.removed[word{mapping.Title, "tok9"}] = true
					w.editIssue(mapping.Title, to("tok7"))
				}
				w.editCard(mapping.Title, to("tok9"))
				w.settle()
				w.verify(ends{conflicts: 2})
				w.expectHistory("lost update", 1)
			})
		})
	}
}

// TestLostAnswerOfALabelBesideAnother: a person sets another estimate label while ours is being
// added, and the answer that would show it is lost. Theirs is an edit, and not a label that lost.
func TestLostAnswerOfALabelBesideAnother(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{crashAfter, answerLost} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.hub.lag = func(int) time.Duration { return 20 * time.Second }
				w.befall("AddLabels", f, func() { w.editIssue(mapping.Estimate, to("5")) })
				w.editCard(mapping.Estimate, to("8"))
				w.settle()
				w.verify(ends{want: values{mapping.Estimate: "8"}, conflicts: 1})
			})
		})
	}
}
