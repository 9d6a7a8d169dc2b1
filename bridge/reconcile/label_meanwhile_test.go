package reconcile_test

import (
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
)

// A person exchanges the estimate's label while the bridge adds the label of a question.
// The answer shows it: what planning has is not written over it as if nobody had changed
// it, and both values are kept.
func TestEstimateChangesWhileALabelIsAdded(t *testing.T) {
	t.Parallel()
	if err := inWorld(t, func(w *world) {
		policy(mapping.PolicyAsk)(w)
		w.restart()
		linked(w)
		w.settle()
		w.hub.lag = func(int) time.Duration { return -1 } // no event tells of what follows
		w.editIssue(mapping.Title, to("tok8"))
		w.rewriteCard(mapping.Title, "tok9")
		w.editCard(mapping.Estimate, to("8"))
		w.befall("AddLabels", "", func() { w.editIssue(mapping.Estimate, to("5")) })
		w.settle()
		if !slices.ContainsFunc(w.conflicts(), func(c mapping.Conflict) bool {
			return c.Attribute == mapping.Estimate && c.GitHub == "5" && c.Planning == "8"
		}) {
			w.fail("the estimate that a person set is lost: labels %v, conflicts %+v", w.issue().Labels, w.conflicts())
		}
	}); err != nil {
		t.Error(err)
	}
}
