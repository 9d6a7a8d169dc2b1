package reconcile_test

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// TestConflictMeetsAgain: a ledger entry whose values meet once more is young again,
// so that it does not expire by when they met first.
func TestConflictMeetsAgain(t *testing.T) {
	passes(t, func(w *world) {
		w.agree()
		both := func(issue, card string) {
			w.editIssue(mapping.Title, to(issue))
			w.rewriteCard(mapping.Title, card)
			w.settle()
		}
		both("tok8", "tok9")
		first := w.conflicts()
		time.Sleep(time.Hour)
		w.editIssue(mapping.Title, to("tok7"))
		w.settle()
		again := time.Now()
		both("tok8", "tok9")
		second := w.conflicts()
		if len(first) != 1 || len(second) != 1 {
			t.Fatalf("%d conflicts, then %d, want the same one", len(first), len(second))
		}
		if !first[0].Expired(again) || second[0].Expired(again) {
			t.Errorf("expired as of the second meeting: %v, then %v; want true, false: %+v", first[0].Expired(again), second[0].Expired(again), second[0])
		}
		if !second[0].At.Equal(first[0].At) {
			t.Errorf("the entry's time moved from %v to %v", first[0].At, second[0].At)
		}
	})
}
