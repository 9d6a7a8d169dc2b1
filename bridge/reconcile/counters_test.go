package reconcile_test

import (
	"testing"

	"planbridge/mapping"
)

// The document does not promise that a card's counters move with its tasks.
// Where ours did not move them, its state is read once for that and not with
// every change of the card.
func TestCountersThatDoNotMove(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		change := func(title string) (reads int) {
			w.card().CountersVersion = 0
			before := w.plan.taskReads
			w.editCard(mapping.Title, to(title))
			w.settle()
			return w.plan.taskReads - before
		}
		change("tok4")
		if n := change("tok5"); n != 0 {
			w.fail("%d reads of a task that nothing happened to", n)
		}
		w.editCard(mapping.State, to(mapping.StateDone)) // moves them, as a person's change does
		w.settle()
		w.verify(ends{want: values{mapping.Title: "tok5", mapping.State: mapping.StateDone}})
	})
}
