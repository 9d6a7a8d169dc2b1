package reconcile_test

import (
	"testing"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// TestBaseOfATaskThatWasEditedBeforeItIsFound: a person edits a task before the bridge, which got
// no answer when it made it, finds it. No record names a text in a version that has another one.
func TestBaseOfATaskThatWasEditedBeforeItIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tracking bool
		edit     func(*mapping.Task)
	}{
		"title of a line's":   {false, func(t *mapping.Task) { t.Title.Value += " tok7" }},
		"state of a line's":   {false, func(t *mapping.Task) { t.State.Value = mapping.StateDone }},
		"state of an issue's": {true, func(t *mapping.Task) { t.State.Value = mapping.StateInProgress }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.route.Tasks, w.route.TrackingTask = mapping.TasksChecklist, c.tracking
				w.restart()
				w.openIssue("Title", "tok2\n\n- [ ] item tok3")
				w.watched = func(s *reconcile.Step) {
					if save, is := s.Effect.(reconcile.Save); is {
						w.verifyBases(save.Link)
					}
				}
				w.befall("CreateTasks", answerLost, func() {})
				w.faults.then = func() {
					for _, task := range w.plan.tasks {
						w.editTask(task, c.edit)
					}
				}
				w.settle()
				w.verifyAnyList(false)
			})
		})
	}
}

// TestStateOfATrackingTaskOfALostStore: an issue is closed, its task is done, the store is lost,
// and somebody reopens the issue. Nothing says which of the two is newer, so that the route
// decides. Neither side counts as unchanged.
func TestStateOfATrackingTaskOfALostStore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		direction mapping.Direction
		policy    mapping.Policy
		want      string
	}{
		"to planning alone": {mapping.ToPlanning, mapping.PolicyPlanning, mapping.StateTodo},
		"planning decides":  {mapping.Both, mapping.PolicyPlanning, mapping.StateDone},
		"GitHub decides":    {mapping.Both, mapping.PolicyGitHub, mapping.StateTodo},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.route.Direction = c.direction
				w.decideBy(c.policy)
				w.agree()
				w.editIssue(mapping.State, to(mapping.StateDone))
				w.settle()
				w.editIssue(mapping.State, to(mapping.StateTodo))
				w.forget()
				g := mapping.StateTodo
				if w.issue().State == "closed" {
					g = mapping.StateDone
				}
				if p := w.task().State.Value; g != c.want || p != c.want {
					w.fail("the states are %s and %s, want %s", g, p, c.want)
				}
				if all := w.conflicts(); len(all) != 1 || all[0].Attribute != mapping.State {
					w.fail("the ledger has %+v, want the conflict of the state", all)
				}
			})
		})
	}
}

// TestClosedWhileTheStoreIsLost: nobody changed the state in planning since the task was made. So
// the issue that was closed while the store was lost stays closed.
func TestClosedWhileTheStoreIsLost(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.agree()
		w.editIssue(mapping.State, to(mapping.StateDone))
		w.forget()
		w.verify(ends{want: values{mapping.State: mapping.StateDone}})
	})
}

// verifyBases fails where a record names a task's value in the version that it has now, and that
// is another one.
func (w *world) verifyBases(l *mapping.Link) {
	tracking := l.Child(mapping.Tracking)
	for _, task := range w.plan.tasks {
		for _, p := range l.All() {
			switch {
			case tracking != nil && tracking.Card.ID == task.ID && p == &l.Pair: // it has the state's base
				w.verifyBase(p, mapping.State, task.State)
			case p.Card.ID == task.ID:
				w.verifyBase(p, mapping.Title, task.Title)
				w.verifyBase(p, mapping.State, mapping.ItemState(task.State))
			}
		}
	}
}

func (w *world) verifyBase(p *mapping.Pair, a mapping.Attribute, now mapping.Versioned) {
	if b, agreed := p.Base[a]; agreed && b.Version == now.Version && !mapping.Same(a, b.Planning, now.Value) {
		w.fail("the record names %s %q in version %d, and that is %q", a, b.Planning, b.Version, now.Value)
	}
}
