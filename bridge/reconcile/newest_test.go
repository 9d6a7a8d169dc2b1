package reconcile_test

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// GitHub stamps whole seconds: that a poll of the same second did not show
// planning's edit does not tell that it was the later one.
func TestNewestWithinASecond(t *testing.T) {
	err := inWorld(t, func(w *world) {
		w.route.DefaultPolicy = mapping.PolicyNewest
		w.restart()
		linked(w)
		w.settle()
		w.hub.lag = func(int) time.Duration { return -1 }
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(1800 * time.Millisecond)))
		w.poll()
		w.editIssue(mapping.Title, to("tok8"))
		w.rewriteCard(mapping.Title, "tok9")
		w.settle()
		if issue, card := w.issue().Title, w.plan.cards[0].Title.Value; issue != "tok8" || card != "tok9" {
			t.Errorf("the issue is called %q and the card %q, want people asked", issue, card)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
