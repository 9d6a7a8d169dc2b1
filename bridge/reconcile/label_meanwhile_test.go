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
	passes(t, func(w *world) {
		policy(mapping.PolicyAsk)(w)
		w.restart()
		w.agree()
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
	})
}

// A person sets a third estimate label while one of two is taken off for the card to be made
// with the other: the third is the newest, and is no older one that is back.
func TestEstimateLabelIsAddedWhileAnotherIsTakenOff(t *testing.T) {
	passes(t, func(w *world) {
		w.race("RemoveLabel", func() {
			w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Labels = append(i.Labels, "points/8") })
		})
		w.openIssue("tok1", body, "points/3", "points/5")
		w.settle()
		w.verifyEqual(values{mapping.Estimate: "8"})
	})
}

// TestARemovedEstimateLabelMayBeHalfOfAnExchange: a person takes the label off and sets
// another one a second later. Nothing is written on GitHub in between.
func TestARemovedEstimateLabelMayBeHalfOfAnExchange(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		before := w.hub.writes
		w.editIssue(mapping.Estimate, to(""))
		w.after(time.Second, func() { w.editIssue(mapping.Estimate, to("8")) })
		w.settle()
		w.verify(ends{want: values{mapping.Estimate: "8"}})
		if n := w.hub.writes - before; n > 0 {
			w.fail("%d writes to GitHub", n)
		}
	})
}
