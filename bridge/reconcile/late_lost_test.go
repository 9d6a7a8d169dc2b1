package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
)

// TestWriteThatSeemedLostAndTheNextOne: a write took effect, but its answer was lost and the read
// after it lagged. So the same or another value is written again. One of the two ran over an edit,
// or both did. No event reports it, except perhaps one of the second write.
func TestWriteThatSeemedLostAndTheNextOne(t *testing.T) {
	t.Parallel()
	edit := line("tok2", "tok2 tok8")
	other := line("tok5", "tok5 tok7") // on the card
	for name, c := range map[string]struct {
		first, second func(*world) // right before the writes
		middle, last  string       // events in between
	}{
		"the first of the same text":  {first: func(w *world) { w.editIssue(mapping.Summary, edit) }},
		"the second of the same text": {second: func(w *world) { w.editIssue(mapping.Summary, edit) }},
		"the first of two texts": {
			last:  " tok7",
			first: func(w *world) { w.editIssue(mapping.Summary, edit); w.editCard(mapping.Summary, other) },
		},
		"the second of two texts": {
			last:   " tok7",
			first:  func(w *world) { w.editCard(mapping.Summary, other) },
			second: func(w *world) { w.editIssue(mapping.Summary, edit) },
		},
		"both of two texts, the second over an edit of the first, and told": {
			middle: " tok6", last: " tok7",
			first:  func(w *world) { w.editIssue(mapping.Summary, edit); w.editCard(mapping.Summary, other) },
			second: func(w *world) { w.editIssue(mapping.Summary, line("middle", "middle tok6")); w.hub.lag = nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.openIssue("tok1", "tok2\n\nmiddle\n\ntok3\n\nmiddle\n\ntok5")
				w.settle()
				w.hub.lag, w.hub.stale = never, 5*time.Second
				w.befall("EditIssue", answerLost, func() {
					if c.first != nil {
						c.first(w)
					}
					if c.second != nil {
						w.faults.then = func() { w.faults.then = nil; w.race("EditIssue", func() { c.second(w) }) }
					}
				})
				w.editCard(mapping.Summary, line("tok3", "tok3 tok9"))
				w.settle()
				w.verify(ends{want: values{mapping.Summary: "tok2 tok8\n\nmiddle" + c.middle + "\n\ntok3 tok9\n\nmiddle\n\ntok5" + c.last}})
			})
		})
	}
}

// A write took effect though it seemed lost, and was made again: that one comes
// late, over what a person has made of the first. The first one's echo is not
// taken for its.
func TestWriteThatSeemedLostAndComesAgainLate(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.hub.lag, w.hub.stale = never, 5*time.Second
		w.beforeEach("EditIssue", func(n int, meets func(fate)) {
			switch n {
			case 1:
				meets(answerLost)
			case 2:
				w.editIssue(mapping.Title, to("tok5"))
				w.hub.stale = 0
				meets(late)
				w.after(lateness/2, w.lookAgain)
			}
		})
		w.editCard(mapping.Title, to("tok9"))
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok5"}})
	})
}

// A write seemed lost and was made again. It comes late after all, in the same second, over a
// person's edit of the second one, and no event reports either. GitHub's history is asked once,
// when none of it can be under way any more.
func TestWriteMadeAgainComesLateAndNobodyTells(t *testing.T) {
	t.Parallel()
	for _, a := range []mapping.Attribute{mapping.Title, mapping.Summary} {
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.hub.lag = func(int) time.Duration { return time.Millisecond }
				ours := ""
				writes := w.beforeEach("EditIssue", func(n int, meets func(fate)) {
					switch n {
					case 1:
						meets(lost)
					case 2:
						w.after(100*time.Millisecond, func() {
							w.hub.lag = never
							ours = w.issue().Title
							if a == mapping.Summary {
								ours = w.issue().Body
							}
							w.editIssue(a, line("tok9", "tok5"))
							w.arrive(func(i *mapping.Issue) {
								if a == mapping.Title {
									i.Title = ours
								} else {
									i.Body = ours
								}
							})
						})
					}
				})
				w.editCard(a, line(map[mapping.Attribute]string{mapping.Title: "tok1", mapping.Summary: "tok2"}[a], "tok9"))
				w.settle()
				w.settle()
				if *writes < 2 || !strings.Contains(ours, "tok9") {
					w.fail("%d writes, of %q", *writes, ours)
				}
				w.verify(ends{conflicts: 1}) // no word of a person is gone
			})
		})
	}
}
