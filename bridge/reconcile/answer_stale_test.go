package reconcile_test

import (
	"slices"
	"testing"

	"planbridge/mapping"
)

// TestAnAnswerHoldsForWhatWasAsked: an operator chooses between two titles while
// somebody writes a third. Nobody chose that one: people are asked anew, and the
// ledger tells no winner of the first question.
func TestAnAnswerHoldsForWhatWasAsked(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		policy(mapping.PolicyAsk)(w)
		w.restart()
		w.agree()
		w.editIssue(mapping.Title, to("tok8"))
		w.rewriteCard(mapping.Title, "tok9")
		w.settle()
		w.rewriteCard(mapping.Title, "tok10")
		w.answer(mapping.Planning)
		w.settle()
		if title := w.issue().Title; title != "tok8" {
			w.fail("nobody chose between tok8 and tok10, and the issue says %q", title)
		}
		open := slices.DeleteFunc(w.conflicts(), func(c mapping.Conflict) bool { return c.State != mapping.ConflictOpen })
		if len(open) != 1 || open[0].Planning != "tok10" || open[0].GitHub != "tok8" {
			w.fail("asked are %+v, want tok8 and tok10", open)
		}
		w.answer(mapping.Planning)
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok10"}, conflicts: 2})
		for _, c := range w.conflicts() {
			if c.State != mapping.ConflictSettled || c.Winner != "" && c.Planning != "tok10" {
				w.fail("the ledger says %+v", c)
			}
		}
	})
}
