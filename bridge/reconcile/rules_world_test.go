package reconcile_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
)

// Each of these tests asserts an effect of one rule that no other rule has.

// A person adds a second estimate label and leaves the first. The older one goes though
// nothing else is written to GitHub. Once the new one is agreed on the older would pass for
// the newer.
func TestTheOlderOfTwoEstimateLabelsGoes(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "points/8") })
		w.settle()
		w.verifyEqual(values{mapping.Estimate: "8"})
		if slices.Contains(w.issue().Labels, "points/3") {
			w.fail("the older label is still there: %q", w.issue().Labels)
		}
	})
}

// The answer to a PATCH shows an edit that came right before it, of which no event tells.
func TestTheAnswerToAWriteShowsAnEdit(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.hub.lag = never
		w.race("EditIssue", func() { w.editIssue(mapping.Summary, line("tok2", "tok2 tok8")) })
		w.editCard(mapping.Title, to("tok9"))
		w.settle()
		w.verifyEqual(values{mapping.Title: "tok9", mapping.Summary: "tok2 tok8\n\nmiddle\n\ntok3"})
	})
}

// A write to planning is given up, and takes effect right before the one that was made in its
// stead. It is no edit of a person: GitHub's present value is written, and is no conflict.
func TestAWriteToPlanningTakesEffectBetweenTwoRounds(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.beforeEach("UpdateCard", func(n int, meets func(fate)) {
			switch n {
			case 1:
				meets(lost)
				w.after(time.Millisecond, func() { w.editIssue(mapping.Title, to("tok5")) })
			case 2:
				w.rewriteCard(mapping.Title, "tok9")
				w.words.removed[word{mapping.Title, "tok9"}] = true
			}
		})
		w.editIssue(mapping.Title, to("tok9"))
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok5"}})
	})
}

// Events of our own account tell only with a read what they are about. Edits that come fast
// with it are folded all the same.
func TestEditsThatOnlyAReadShowsAreFolded(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.coalesce = folded
		w.restart()
		w.agree()
		w.faults.armed, w.faults.at = true, -1
		const edits = 10
		for n := range edits {
			w.after(time.Duration(n)*200*time.Millisecond, func() {
				w.hub.change(w.issue(), bot, func(i *mapping.Issue) { i.Title = fmt.Sprint("Title ", n) })
			})
		}
		w.settle()
		w.verifyEqual(values{mapping.Title: fmt.Sprint("Title ", edits-1)})
		if n := w.spent("UpdateCard"); n > 3 {
			w.fail("%d writes to planning for %d edits within two seconds", n, edits)
		}
	})
}
