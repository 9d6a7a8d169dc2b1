package reconcile_test

import (
	"testing"

	"planbridge/mapping"
)

// TestAShortListingOfTasksLosesNoItem: a listing that lacks tasks, like one that is cut short,
// proves nothing about them. Only a read of a task itself says that it is gone.
func TestAShortListingOfTasksLosesNoItem(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.route.Tasks = mapping.TasksChecklist
		w.restart()
		w.openIssue("Title", "tok2\n\n- [ ] item tok3\n- [x] item tok4")
		w.settle()
		w.plan.short = true
		w.look(w.link(), true)
		w.settle()
		w.plan.short = false
		w.setTask("item tok3", func(t *mapping.Task) { t.Title.Value = "item tok9" })
		w.words.wrote(mapping.Summary, "item tok3", "item tok9")
		w.settle()
		w.verifyAnyList(false)
	})
}
