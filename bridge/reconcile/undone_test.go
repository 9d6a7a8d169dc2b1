package reconcile_test

import (
	"testing"

	"planbridge/mapping"
)

// TestUndoneOnGitHubAfterALostAnswer: planning's answer to a write is lost, and
// meanwhile a person edits there what it wrote, another one takes the edit on
// GitHub back that it came from. Both have changed what stood there.
func TestUndoneOnGitHubAfterALostAnswer(t *testing.T) {
	t.Parallel()
	if err := inWorld(t, func(w *world) {
		linked(w)
		w.settle()
		w.befall("UpdateCard", answerLost, func() {})
		w.faults.then = func() {
			w.editCard(mapping.Title, to("tok5"))
			w.editIssue(mapping.Title, to("tok1"))
		}
		w.editIssue(mapping.Title, to("tok9"))
		w.words.removed[word{mapping.Title, "tok9"}] = true
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok5"}, conflicts: 1})
	}); err != nil {
		t.Error(err)
	}
}
