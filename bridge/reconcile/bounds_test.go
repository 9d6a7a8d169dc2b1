package reconcile_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping/mappingtest"

	"planbridge/mapping"
)

// addLines and removeLines are a person who edits a checklist on GitHub.
func (w *world) addLines(texts ...string) {
	w.editIssue(mapping.Summary, func(body string) string {
		var items []mapping.Item
		for _, text := range texts {
			items = append(items, mapping.Item{Text: text})
		}
		return mapping.SetItems(body, items)
	})
}

func (w *world) removeLines(texts ...string) {
	w.editIssue(mapping.Summary, func(body string) string {
		var items []mapping.Item
		for _, item := range mapping.Items(body) {
			if slices.Contains(texts, item.Text) {
				item.Remove = true
				items = append(items, item)
			}
		}
		return mapping.SetItems(body, items)
	})
}

// removed are the checklist items of the link whose line was removed.
func (w *world) removed() (n int) {
	for _, c := range w.link().Children {
		if c.State == mapping.Left {
			n++
		}
	}
	return n
}

// recordSize is how large the link's record is, in bytes of JSON.
func (w *world) recordSize() int {
	data, err := json.Marshal(w.link())
	w.check(err)
	return len(data)
}

// lineNames are the names of five lines of a day.
func lineNames(day int) (names []string) {
	for i := range 5 {
		names = append(names, fmt.Sprintf("%c%d of day %d", 'a'+i, day*day, day))
	}
	return names
}

// playDays lets people add five lines each day and remove them at its end.
func (w *world) playDays(days int) {
	for day := range days {
		names := lineNames(day)
		w.addLines(names...)
		w.settle()
		w.removeLines(names...)
		w.settle()
		if n := w.removed(); n > mapping.MaxRemovedLines {
			w.fail("day %d: %d removed lines are kept, want %d at most", day, n, mapping.MaxRemovedLines)
		}
		if len(w.errs) > 0 {
			return
		}
		time.Sleep(12 * time.Hour)
	}
}

// onList runs f in a world with a checklist of one line.
func onList(t *testing.T, f func(*world)) {
	t.Helper()
	passes(t, func(w *world) {
		w.route.Tasks = mapping.TasksChecklist
		w.restart()
		w.openIssue("Title", "above\n\n- [ ] kept")
		w.settle()
		f(w)
	})
}

// TestRemovedLinesOfManyDaysAreBounded: a checklist with five lines a day, each removed in the
// evening, keeps the latest of them alone. One task stays for each.
func TestRemovedLinesOfManyDaysAreBounded(t *testing.T) {
	t.Parallel()
	removedLinesOfDays(t, 20)
}

// TestRemovedLinesOfTwoHundredDays is the same for 1,000 lines.
func TestRemovedLinesOfTwoHundredDays(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	removedLinesOfDays(t, 200)
}

func removedLinesOfDays(t *testing.T, days int) {
	t.Helper()
	onList(t, func(w *world) {
		w.playDays(days)
		if n := len(w.plan.tasks); n != 2+5*days {
			w.fail("%d tasks, want %d: one for each line and the tracking task", n, 2+5*days)
		}
		if n := w.recordSize(); n > 100_000 {
			w.fail("the record has %d bytes", n)
		}
		w.verifyAnyList(true)
	})
}

// TestAForgottenLineIsBack: a line that was removed long ago stands for the same task when it is
// put back, and what changes there then comes over.
func TestAForgottenLineIsBack(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	onList(t, func(w *world) {
		w.playDays(20)
		line, tasks := lineNames(2)[1], len(w.plan.tasks)
		w.addLines(line)
		w.settle()
		if n := len(w.plan.tasks); n != tasks {
			w.fail("%d tasks, want %d: the line has one", n, tasks)
		}
		w.tickItem(line, true)
		w.settle()
		if now := w.tasksNow(); !slices.Contains(now, "+"+line) {
			w.fail("the tasks are %q, want %q done", now, line)
		}
		w.setTask(line, func(t *mapping.Task) { t.Title.Value = "renamed" })
		w.settle()
		if body := w.issue().Body; !strings.Contains(body, "- [x] renamed") {
			w.fail("the body is %q, want the new name of the line's task", body)
		}
		w.removeLines("renamed")
		w.settle()
		w.playDays(12)
		w.addLines("renamed")
		w.settle()
		if n := len(w.plan.tasks); n != tasks+1 {
			w.fail("%d tasks, want %d: each line had one before but that whose task was renamed", n, tasks+1)
		}
		w.verifyAnyList(true)
	})
}

// TestAForgottenTaskOfAPersonGetsNoLine: of a task that a person made the line was removed
// long ago. It is not written again, though the task carries no marker.
func TestAForgottenTaskOfAPersonGetsNoLine(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	onList(t, func(w *world) {
		w.newTask("by plan")
		w.settle()
		if body := w.issue().Body; !strings.Contains(body, "- [ ] by plan") {
			w.fail("the body is %q, want a line for the task", body)
		}
		w.removeLines("by plan")
		w.settle()
		w.playDays(20)
		w.setTask("by plan", func(t *mapping.Task) { t.State.Value = mapping.StateDone })
		w.settle()
		w.look(w.link(), true)
		w.settle()
		if body := w.issue().Body; strings.Contains(body, "by plan") {
			w.fail("the body is %q: somebody had removed that line", body)
		}
		w.verifyAnyList(true)
	})
}

// TestForgottenLinesMakeNoRoom: forgotten tasks count among those that a card may have.
func TestForgottenLinesMakeNoRoom(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	t.Parallel()
	const most = 80
	onList(t, func(w *world) {
		w.route.TasksPerCard = most
		w.restart()
		w.playDays(30)
		if n := len(w.plan.tasks); n != most+1 {
			w.fail("%d tasks, want %d and the tracking task", n, most)
		}
	})
}
