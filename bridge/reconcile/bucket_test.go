package reconcile_test

import (
	"slices"
	"testing"

	"planbridge/mapping"
)

// A bucket's id in its listing may not be the one in its cards' own state: a
// read of the card then says nothing new about the bucket.
func TestReadsOfACardKeepItsBucketsName(t *testing.T) {
	t.Parallel()
	if err := inWorld(t, func(w *world) {
		mirrored(w)
		w.plan.stateID = "state-incoming"
		w.plans(func(c *mapping.Card) { c.StateID = w.plan.stateID })
		w.settle()
		w.look(w.link(), true)
		w.settle()
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = []string{"points/3"} })
		w.settle()
		w.verifyShown()
		if !slices.Contains(w.issue().Labels, "bucket:Incoming") {
			w.fail("labels %q", w.issue().Labels)
		}
	}); err != nil {
		t.Error(err)
	}
}
