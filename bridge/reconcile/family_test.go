package reconcile_test

import (
	"fmt"
	"testing"
	"time"

	"planbridge/mapping"
)

// withTasks is a world whose sub-issues are tasks.
func withTasks(w *world) { w.route.Tasks = mapping.TasksSubIssues }

// family is something that happens to an issue's sub-issues and its card's
// tasks, and how it has to end whatever happens to the bridge meanwhile.
type family struct {
	name   string
	before func(*world)
	do     func(*world)
	cards  int // 0: one
	ends   []member
}

func (f *family) begin(w *world) {
	withTasks(w)
	w.restart()
	w.agree()
	if f.before != nil {
		f.before(w)
		w.settle()
	}
	w.faults.armed = true
	f.do(w)
	w.settle()
	w.faults.armed = false
}

func families() []family {
	todo := mapping.StateTodo
	return []family{
		{
			name: "a sub-issue becomes a task", do: func(w *world) { w.openSub(0, "tok5", "tok6", "hours/1.5") },
			ends: []member{{title: "tok5", body: "tok6", hours: "1.5", state: todo}},
		},
		{name: "a closed sub-issue becomes a task that is done", do: func(w *world) {
			i := w.openSub(0, "tok5", "")
			w.after(90*time.Second, func() { w.hub.change(i, dev, func(s *mapping.Issue) { s.State = "closed" }) })
		}, ends: []member{{title: "tok5", state: mapping.StateDone}}},
		{name: "three sub-issues become tasks", do: func(w *world) {
			for n := range 3 {
				w.openSub(0, fmt.Sprint("tok", 5+n), "")
			}
		}, ends: []member{{title: "tok5", state: todo}, {title: "tok6", state: todo}, {title: "tok7", state: todo}}},
		{name: "a task becomes a sub-issue", do: func(w *world) {
			w.editTask(w.addTask("tok5", "2.5"), func(t *mapping.Task) { t.State.Value = mapping.StateInProgress })
		}, ends: []member{{title: "tok5", hours: "2.5", state: mapping.StateInProgress}}},
		{
			name: "two tasks become sub-issues", do: func(w *world) { w.addTask("tok5", ""); w.addTask("tok6", "") },
			ends: []member{{title: "tok5", state: todo}, {title: "tok6", state: todo}},
		},
		{name: "a sub-issue is edited", before: func(w *world) { w.openSub(0, "tok5", "tok6") }, do: func(w *world) {
			w.hub.change(w.hub.issues[1], dev, func(s *mapping.Issue) { s.Title, s.Body, s.Labels = "tok7", "tok8", []string{"hours/3"} })
		}, ends: []member{{title: "tok7", body: "tok8", hours: "3", state: todo}}},
		{name: "a task is edited", before: func(w *world) { w.openSub(0, "tok5", "tok6") }, do: func(w *world) {
			w.editTask(w.taskOf("tok5"), func(t *mapping.Task) {
				t.Title.Value, t.State.Value, t.Estimate.Value = "tok7", mapping.StateDone, "0.5"
			})
		}, ends: []member{{title: "tok7", body: "tok6", hours: "0.5", state: mapping.StateDone}}},
		{name: "both are edited", before: func(w *world) { w.addTask("tok5", "") }, do: func(w *world) {
			w.hub.change(w.hub.issues[1], dev, func(s *mapping.Issue) { s.State = "closed" })
			w.editTask(w.taskOf("tok5"), func(t *mapping.Task) { t.Title.Value = "tok7" })
		}, ends: []member{{title: "tok7", state: mapping.StateDone}}},
	}
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				f.begin(w)
				w.verifyFamily(max(1, f.cards), f.ends...)
			})
		})
	}
}

func TestEveryCallForAFamilyMeetsEveryFate(t *testing.T) {
	t.Parallel()
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			var points []point
			play := func(arm func(*world)) error {
				return inWorld(t, func(w *world) {
					arm(w)
					f.begin(w)
					points = w.faults.points
					w.verifyFamily(max(1, f.cards), f.ends...)
				})
			}
			if err := play(func(*world) {}); err != nil {
				t.Fatalf("without a fault: %v", err)
			}
			calls := points
			t.Logf("%d calls: %v", len(calls), calls)
			for at, p := range calls {
				for n, fate := range p.fates() {
					if spared(at + n) {
						continue
					}
					if err := play(func(w *world) { w.faults.at, w.faults.fate = at, fate }); err != nil {
						t.Error(fmt.Errorf("call %d, %s %s: %s: %w", at, p.kind, p.name, fate, err))
					}
				}
			}
		})
	}
}

// TestWhatIsRefusedOfAFamily: a value that one side refuses blocks itself alone, and is reported
// once.
func TestWhatIsRefusedOfAFamily(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(*world){
		"a hundred sub-issues": func(w *world) {
			w.hub.issues[0].subs = make([]*ghIssue, 100)
			w.addTask("tok5", "")
			w.settle()
			w.hub.issues[0].subs = nil
			w.verifyFamily(1, member{title: "tok5", state: mapping.StateTodo, orphan: true})
			if !w.says("does not become a sub-issue") {
				w.fail("nothing is said of it")
			}
		},
		"a title of a task": func(w *world) {
			w.plan.refuse = func(a mapping.Attribute, v string) *mapping.Rejection {
				if a == mapping.Title && v == "tok5" {
					return &mapping.Rejection{Status: 422, Field: "title", Message: "no"}
				}
				return nil
			}
			i := w.openSub(0, "tok5", "")
			w.openSub(0, "tok6", "")
			w.settle()
			if w.taskOf("tok6") == nil || !w.says("refused") {
				w.fail("the other one waits, or nothing is said")
			}
			w.hub.change(i, dev, func(s *mapping.Issue) { s.Title = "tok7" })
			w.settle()
			w.verifyFamily(1, member{title: "tok7", state: mapping.StateTodo}, member{title: "tok6", state: mapping.StateTodo})
		},
		"hours of a task": func(w *world) {
			w.plan.refuse = func(a mapping.Attribute, v string) *mapping.Rejection {
				if a == mapping.Estimate && v == "0.3" {
					return &mapping.Rejection{Status: 422, Field: "estimate", Message: "no"}
				}
				return nil
			}
			i := w.openSub(0, "tok5", "", "hours/0.3")
			w.settle()
			w.hub.change(i, dev, func(s *mapping.Issue) { s.Labels = []string{"hours/4"} })
			w.settle()
			w.verifyFamily(1, member{title: "tok5", hours: "4", state: mapping.StateTodo})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				withTasks(w)
				w.restart()
				w.agree()
				play(w)
			})
		})
	}
}
