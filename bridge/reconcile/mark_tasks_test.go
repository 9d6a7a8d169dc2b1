package reconcile_test

import (
	"strings"
	"testing"

	"planbridge/mapping"
)

// bare is a person who takes the markers off all tasks of the card.
func (w *world) bare() {
	for _, t := range w.plan.tasks {
		if text, _ := keys.Body(t.Summary.Value); text != t.Summary.Value {
			t.Summary = mapping.Versioned{Value: text, Version: t.Summary.Version + 1}
			t.Version++
			w.sweep(t)
		}
	}
}

// bareTasks are the ids of the card's tasks without a marker.
func (w *world) bareTasks() (ids []string) {
	for _, t := range w.plan.tasks {
		if _, marks := keys.Body(t.Summary.Value); len(marks) == 0 {
			ids = append(ids, string(t.ID))
		}
	}
	return ids
}

// markedTasks is a pair at rest whose card has a tracking task and tasks of two lines.
func markedTasks(w *world) {
	tasksOfItems(w)
	w.restart()
	listed(w)
	w.settle()
}

// TestARefusedMarkerOfATaskIsTold: planning does not take the text of a task with its marker. The
// pair says so, is not written for ever, and forgets it once the text is another one.
func TestARefusedMarkerOfATaskIsTold(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		markedTasks(w)
		asked := 0
		w.plan.refuse = func(a mapping.Attribute, value string) *mapping.Rejection {
			if _, marks := keys.Body(value); a != mapping.Summary || len(marks) == 0 {
				return nil
			}
			asked++
			return &mapping.Rejection{Field: string(a), Message: "no links here"}
		}
		w.bare()
		w.settle()
		w.look(w.link(), true)
		w.settle()
		if tasks := len(w.plan.tasks); asked != tasks {
			w.fail("%d tries for %d tasks", asked, tasks)
		}
		for _, c := range w.link().Children {
			if r := c.Refused[mapping.Summary]; r.Message != "no links here" || r.Side != mapping.Planning {
				w.fail("%s task %s: refused %+v", c.Kind, c.Card.ID, r)
			}
		}
		if n := strings.Count(w.log.String(), "msg=refused"); n != asked {
			w.fail("told %d times of %d refusals", n, asked)
		}
		w.plan.refuse = nil
		for _, t := range w.plan.tasks {
			t.Summary = mapping.Versioned{Value: t.Summary.Value + " again", Version: t.Summary.Version + 1}
			t.Version++
			w.sweep(t)
		}
		w.settle()
		if ids := w.bareTasks(); len(ids) > 0 {
			w.fail("tasks %v have no marker", ids)
		}
		for _, c := range w.link().Children {
			if len(c.Refused) > 0 {
				w.fail("%s task %s: still refused %+v", c.Kind, c.Card.ID, c.Refused)
			}
		}
	})
}

// TestATaskThatMovedGetsItsMarkerLater: somebody writes a task and takes that back while its marker
// is restored. The marker was not written, so that the next look restores it.
func TestATaskThatMovedGetsItsMarkerLater(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		markedTasks(w)
		moved := false
		w.faults.armed, w.faults.draw = true, func(p point) fate {
			if p.name == "UpdateTask" && !moved {
				moved = true
				for _, t := range w.plan.tasks {
					t.Summary.Version += 2
					t.Version += 2
				}
			}
			return ""
		}
		w.bare()
		w.settle()
		for _, t := range w.plan.tasks {
			w.sweep(t)
		}
		w.settle()
		if ids := w.bareTasks(); len(ids) > 0 {
			w.fail("tasks %v have no marker", ids)
		}
	})
}

// TestATaskOfAnotherCardIsNotMarked: a person moved the tracking task to another card and took its
// marker off. The bridge looks for it on its own card alone, so that a marker would be no use.
func TestATaskOfAnotherCardIsNotMarked(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.openIssue("tok1", "tok2")
		w.settle()
		w.task().Owner = "another"
		w.bare()
		w.settle()
		if ids := w.bareTasks(); len(ids) != 1 {
			w.fail("the task of another card was marked: %q", w.task().Summary.Value)
		}
	})
}
