package reconcile_test

import (
	"testing"
	"time"

	"planbridge/mapping"
)

// A person sets what a write of ours would have set long ago, whose answer was lost. Whether
// that was the write is not known: the sides are compared as at first sight, and nobody has
// told what planning holds.
func TestAValueOfALostWriteIsComparedWithBothSides(t *testing.T) {
	t.Parallel()
	for a, v := range (values{mapping.State: mapping.StateInProgress, mapping.Estimate: "8"}) {
		t.Run(string(a), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				policy(mapping.PolicyGitHub)(w)
				w.restart()
				w.agree()
				w.befall("AddLabels", lost, func() {})
				w.rewriteCard(a, v)
				w.settle()
				w.rewriteCard(a, map[mapping.Attribute]string{mapping.State: mapping.StateDone, mapping.Estimate: "5"}[a])
				w.settle()
				time.Sleep(time.Hour) // of fake time
				w.editIssue(a, to(v))
				w.settle()
				w.verify(ends{want: values{a: v}, conflicts: 1})
			})
		})
	}
}
