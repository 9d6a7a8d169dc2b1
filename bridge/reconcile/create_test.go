package reconcile_test

import (
	"slices"
	"testing"

	"planbridge/mapping"
)

// Planning makes some tasks of a request, and refuses it as a whole for one of them. They
// are looked for before the others are tried again: none is made twice.
func TestRefusedTasksAreLookedForFirst(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(*world){
		"of lines": func(w *world) {
			w.openIssue("Title", "tok2\n\n- [ ] tok3\n- [ ] tok4\n- [ ] tok5\n- [ ] tok6")
		},
		"of sub-issues": func(w *world) {
			w.agree()
			w.plan.mute = true
			for _, title := range []string{"tok3", "tok4", "tok5", "tok6"} {
				w.openSub(0, title, "")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.route.Tasks = mapping.TasksChecklist
				if name == "of sub-issues" {
					withTasks(w)
				}
				w.plan.mute = true
				w.plan.refuse = func(a mapping.Attribute, v string) *mapping.Rejection {
					if a == mapping.Title && v == "tok5" {
						return &mapping.Rejection{Status: 422, Message: "no"}
					}
					return nil
				}
				w.restart()
				play(w)
				w.settle()
				if tasks, want := w.tasksNow(), []string{"-tok3", "-tok4", "-tok6"}; !slices.Equal(tasks, want) {
					w.fail("the tasks are %v, want %v", tasks, want)
				}
			})
		})
	}
}
