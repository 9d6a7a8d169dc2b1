package reconcile_test

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// TestAnIssueThatIsBackBeforeItsCardWasMadeGetsOne: what was to be made when the issue
// seemed to be gone is made when it is there again.
func TestAnIssueThatIsBackBeforeItsCardWasMadeGetsOne(t *testing.T) {
	t.Parallel()
	err := inWorld(t, func(w *world) {
		w.openIssue("tok1", "tok2", "points/3", "points/5") // which label counts is read before the card is made
		w.hub.gone = true
		if !w.stepUntil(time.Now().Add(5*time.Minute), func() bool { n, _ := w.count(mapping.Orphaned); return n == 1 }) {
			w.fail("the issue is not believed to be gone: %+v", w.links())
		}
		if len(w.plan.cards) > 0 {
			w.fail("the card is there already: %+v", w.plan.cards)
		}
		w.hub.gone = false
		w.settle()
		if n, _ := w.count(mapping.Linked); n != 1 || len(w.plan.cards) != 1 {
			w.fail("the links are %+v, the cards %+v", w.links(), w.plan.cards)
		}
		w.verify(ends{})
	})
	if err != nil {
		t.Error(err)
	}
}
