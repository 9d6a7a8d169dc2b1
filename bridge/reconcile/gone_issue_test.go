package reconcile_test

import (
	"testing"

	"planbridge/mapping"
)

// TestTheIssueOfACardGoesWhileTheStoreIsLost: a card's issue is deleted, and the store is lost before
// planbridge learns of it. The card's tracking task names the issue, and the card gets no other one.
func TestTheIssueOfACardGoesWhileTheStoreIsLost(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		mirrored(w)
		w.settle()
		w.issue().deleted = true
		w.loseStore()
		w.polled = map[mapping.Ref]string{}
		w.settle()
		if issues, tasks := len(w.hub.issues), len(w.plan.tasks); issues != 1 || tasks != 1 || len(w.all()) != 0 {
			w.fail("%d issues, %d tasks and %d links; want the deleted issue, its task and no link", issues, tasks, len(w.all()))
		}
	})
}
