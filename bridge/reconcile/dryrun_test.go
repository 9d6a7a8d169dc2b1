package reconcile_test

import (
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestDryRun: each planned create is logged once, however often it is planned, and nothing is made.
func TestDryRun(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.dryRun = true
		w.restart()
		w.openIssue("tok1", "text")
		w.addCard("tok2", "text", "")
		w.settle()
		w.editIssue(mapping.Title, to("tok3"))
		w.editCard(mapping.Title, to("tok4"))
		w.settle()
		if n := strings.Count(w.log.String(), "dry run: would create"); n != 2 {
			w.fail("it says %d times that it would create something, want 2", n)
		}
		if len(w.hub.issues) != 1 || len(w.plan.cards) != 1 {
			w.fail("%d issues and %d cards", len(w.hub.issues), len(w.plan.cards))
		}
	})
}

// TestDryRunSaysWhatItWouldDecide: of a pair that is there already, a dry run says what it
// would write, and neither side changes.
func TestDryRunSaysWhatItWouldDecide(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.dryRun = true
		w.restart()
		w.editIssue(mapping.Title, to("tok9"))
		w.settle()
		if !strings.Contains(w.log.String(), "dry run: would decide") {
			w.fail("it does not say what it would decide")
		}
		if w.plan.cards[0].Title.Value != "tok1" {
			w.fail("the card's title is %q", w.plan.cards[0].Title.Value)
		}
	})
}
