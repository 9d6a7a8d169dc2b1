package reconcile_test

import (
	"testing"

	"planbridge/mapping"
)

// TestUndoneOnGitHubAfterALostAnswer: planning's answer to a write is lost. Meanwhile a person
// edits the written value there, and another one takes back the edit on GitHub that it came from.
// Both have changed the values.
func TestUndoneOnGitHubAfterALostAnswer(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.befall("UpdateCard", answerLost, func() {})
		w.faults.then = func() {
			w.editCard(mapping.Title, to("tok5"))
			w.editIssue(mapping.Title, to("tok1"))
		}
		w.editIssue(mapping.Title, to("tok9"))
		w.words.removed[word{mapping.Title, "tok9"}] = true
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok5"}, conflicts: 1})
	})
}

// TestUndoneInPlanningAfterALostAnswer: GitHub's answer to a write is lost. Meanwhile a person
// replaces the written value there, and another one takes back the change in planning that it came
// from. Both have changed the values.
func TestUndoneInPlanningAfterALostAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		attribute         mapping.Attribute
		agreed, lost, new string
	}{
		{mapping.State, mapping.StateDone, mapping.StateInProgress, mapping.StateTodo},
		{mapping.Estimate, "3", "5", "8"},
	} {
		t.Run(string(tt.attribute), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.agree()
				w.editCard(tt.attribute, to(tt.agreed))
				w.settle()
				w.befall("EditIssue", answerLost, func() {})
				if tt.attribute == mapping.Estimate {
					w.befall("AddLabels", answerLost, func() {})
				}
				w.faults.then = func() {
					w.faults.then = nil
					w.editCard(tt.attribute, to(tt.agreed))
					w.editIssue(tt.attribute, to(tt.new))
					w.poll()
				}
				w.editCard(tt.attribute, to(tt.lost))
				w.settle()
				w.verify(ends{want: values{tt.attribute: tt.agreed}, conflicts: 1})
			})
		})
	}
}

// TestTheSameInPlanningAfterALostAnswer: a write to planning did not happen, and its answer is
// lost. Meanwhile a person sets the same value there over another one, while the original change on
// GitHub is taken back. That value is the person's.
func TestTheSameInPlanningAfterALostAnswer(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.befall("UpdateTask", lost, func() {})
		w.faults.then = func() {
			w.faults.then = nil
			w.editCard(mapping.State, to(mapping.StateInProgress))
			w.editCard(mapping.State, to(mapping.StateDone))
			w.editIssue(mapping.State, to(mapping.StateInProgress))
		}
		w.editIssue(mapping.State, to(mapping.StateDone))
		w.settle()
		w.verify(ends{want: values{mapping.State: mapping.StateDone}, conflicts: 1})
	})
}
