package reconcile_test

import (
	"fmt"
	"testing"

	"planbridge/mapping/mappingtest"

	"planbridge/mapping"
)

// TestAnAnswerThatComesBeforeTheQuestion: an operator answers a question as soon as the ledger has
// it, before any later call of the asking claim. The answer to the comment may be lost. The choice
// is carried out, and both texts are kept.
func TestAnAnswerThatComesBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	for _, befalls := range mappingtest.Drawn([]fate{"", answerLost, lost}) {
		t.Run(fmt.Sprint("the comment ", befalls), func(t *testing.T) {
			for at, more := 0, true; more; at++ {
				err := inWorld(t, func(w *world) {
					policy(mapping.PolicyAsk)(w)
					w.restart()
					w.agree()
					answered := false
					w.faults.armed, w.faults.fate, w.faults.at = true, befalls, -1
					w.faults.before = func(i int, p point) {
						if p.name == "CreateComment" && w.faults.at < 0 {
							w.faults.at = i
						}
						if i >= at && !answered && p.name != "PutConflict" { // a read and a write of an entry are one step
							w.answer(mapping.GitHub)
							answered = len(w.conflicts()) > 0
						}
					}
					w.editIssue(mapping.Title, to("tok8"))
					w.rewriteCard(mapping.Title, "tok9")
					w.settle()
					if more = answered; !more {
						return // there is no such call
					}
					w.verify(ends{want: values{mapping.Title: "tok8"}, conflicts: 1})
				})
				if err != nil {
					t.Error(fmt.Errorf("answered before call %d: %w", at, err))
				}
			}
		})
	}
}
