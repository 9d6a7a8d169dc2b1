package reconcile_test

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// TestStaleReadAfterACloseForAReview: a read that lags shows an issue open that a review has just
// closed. By GitHub's whole seconds it is as new as the close. Nobody has reopened the issue.
func TestStaleReadAfterACloseForAReview(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.hub.lag = never
		w.review("Approved")
		w.race("Issue", func() {
			w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "bug") }) // in the second of the close
			time.Sleep(200 * time.Millisecond)                                                          // of fake time
			w.race("Finish", func() {
				w.hub.stale = 100 * time.Millisecond
				w.look(w.link(), true)
			})
		})
		w.settle()
		w.verify(ends{want: values{mapping.State: mapping.StateDone}})
		if n := w.task().State.Version; n != 1 {
			w.fail("the task's state was written %d times, want once", n)
		}
	})
}
