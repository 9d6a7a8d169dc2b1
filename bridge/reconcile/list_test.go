package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// listBody is an issue's body with two items.
const listBody = "above\n\n- [ ] one\n- [x] two\n\nbelow"

// listed is an issue with a checklist and its card.
func listed(w *world) { w.openIssue("tok1", listBody) }

func tasksOfItems(w *world) { w.route.Tasks = mapping.TasksChecklist }

// setTask is a person who edits a task of the card. The poll sees it by its
// card's counters, or the sweep does.
func (w *world) setTask(title string, edit func(*mapping.Task)) {
	for _, t := range w.plan.tasks {
		if t.Title.Value != title {
			continue
		}
		was := *t
		if edit(t); t.Title.Value != was.Title.Value {
			t.Title.Version++
		}
		if t.State.Value != was.State.Value {
			t.State.Version++
			w.card().CountersVersion++
			w.card().Version++
		}
		t.Version++
		w.sweep(t)
	}
}

// sweep shows the store a task.
func (w *world) sweep(t *mapping.Task) {
	ref := mapping.TaskRef(t.ID)
	w.observe(store.Observation{
		Refs: []mapping.Ref{ref, mapping.CardRef(t.Owner)}, Item: ref, At: t.Version, Digest: mapping.DigestTask(t), Data: encode(t),
	}, nil)
}

// newTask is a person who adds a task to the card.
func (w *world) newTask(title string) {
	if _, err := w.plan.CreateTask(context.Background(), w.card().ID, "alice", reconcile.NewItem{Title: title}); err != nil {
		w.check(err)
	}
	w.plan.writes--
}

// tickItem is a person who clicks a box.
func (w *world) tickItem(text string, checked bool) {
	w.editIssue(mapping.Summary, func(body string) string {
		for _, item := range mapping.Items(body) {
			if item.Text == text {
				item.Checked = checked
				return mapping.SetItems(body, []mapping.Item{item})
			}
		}
		return body
	})
}

// itemsOf are the items of a body, sorted, ticked ones with a + and others with a -. The function
// tasksNow returns the card's tasks in the form of their items.
func (w *world) itemsOf(text string) []string {
	var out []string
	body, _ := keys.Body(text)
	for _, item := range mapping.Items(body) {
		out = append(out, sign(item.Checked)+mapping.Restore(item.Text))
	}
	slices.Sort(out)
	return out
}

func (w *world) tasksNow() []string {
	var out []string
	for _, t := range w.plan.tasks {
		if !strings.HasPrefix(t.Title.Value, "GitHub ") {
			out = append(out, sign(t.State.Value == mapping.StateDone)+t.Title.Value)
		}
	}
	slices.Sort(out)
	return out
}

func sign(ticked bool) string {
	if ticked {
		return "+"
	}
	return "-"
}

// verifyList checks a world with a checklist at rest. Every line has one task, and every task one
// line, except tasks whose line was removed.
func (w *world) verifyList(want, left string, conflicts int) {
	if len(w.errs) > 0 {
		return
	}
	if len(w.hub.issues) != 1 || len(w.plan.cards) != 1 {
		w.fail("%d issues, %d cards; want one of each", len(w.hub.issues), len(w.plan.cards))
		return
	}
	g, p := strings.Join(w.itemsOf(w.issue().Body), " "), strings.Join(w.tasksNow(), " ")
	all := strings.Fields(want + " " + left)
	slices.Sort(all)
	if g != want || p != strings.Join(all, " ") {
		w.fail("items %q, tasks %q; want %q", g, p, want)
	}
	body, _ := keys.Body(w.issue().Body)
	summary, _ := keys.Body(w.card().Summary.Value)
	if mapping.Canonical(mapping.WithoutItems(body)) != mapping.Canonical(summary) {
		w.fail("text %q, summary %q", body, summary)
	}
	w.verifyConflicts(conflicts)
	w.verifyRest()
}

// listScenario is a scenario of a checklist and how it ends.
type listScenario struct {
	scenario
	want, left string
	conflicts  int
}

func listScenarios() []listScenario {
	both := func(w *world) {
		w.tickItem("one", true)
		w.setTask("two", func(t *mapping.Task) { t.State.Value = mapping.StateTodo })
	}
	return []listScenario{
		{scenario: scenario{name: "an issue with items becomes a card with tasks", do: listed}, want: "+two -one"},
		{scenario: scenario{name: "a line is added and one ticked", before: listed, do: func(w *world) {
			w.editIssue(mapping.Summary, func(b string) string { return strings.Replace(b, "- [ ] one", "- [x] one\n- [ ] three", 1) })
		}}, want: "+one +two -three"},
		{scenario: scenario{name: "a task is added, one renamed and one done", before: listed, do: func(w *world) {
			w.newTask("three")
			w.setTask("one", func(t *mapping.Task) { t.Title.Value, t.State.Value = "seven", mapping.StateDone })
		}}, want: "+seven +two -three"},
		{scenario: scenario{name: "both sides decide about items", before: listed, do: both}, want: "+one -two"},
		{scenario: scenario{name: "items of one side and text of the other", before: listed, do: func(w *world) {
			w.setTask("one", func(t *mapping.Task) { t.State.Value = mapping.StateDone })
			w.editIssue(mapping.Summary, line("above", "ABOVE"))
			w.editCard(mapping.Summary, line("below", "BELOW"))
		}}, want: "+one +two"},
		{scenario: scenario{name: "a line is removed", before: listed, do: func(w *world) {
			w.editIssue(mapping.Summary, func(b string) string { return strings.Replace(b, "- [ ] one\n", "", 1) })
		}}, want: "+two", left: "-one"},
		{scenario: scenario{name: "two names meet", before: listed, do: func(w *world) {
			w.editIssue(mapping.Summary, func(b string) string { return strings.Replace(b, "[ ] one", "[ ] one-by-hub", 1) })
			w.setTask("one", func(t *mapping.Task) { t.Title.Value = "one-by-plan" })
		}}, want: "+two -one-by-plan", conflicts: 1},
		{scenario: scenario{name: "a card with tasks becomes an issue with items", do: func(w *world) {
			w.addCard("tok1", "above", "")
			w.newTask("one")
		}}, want: "-one"},
	}
}

func TestChecklistMeetsEveryFate(t *testing.T) {
	t.Parallel()
	for _, s := range listScenarios() {
		s.tune = tasksOfItems
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			run := func(at int, fate fate) (points []point, err error) {
				err = inWorld(t, func(w *world) {
					w.faults.at, w.faults.fate = at, fate
					s.begin(w)
					points = w.faults.points
					w.verifyList(s.want, s.left, s.conflicts)
				})
				return points, err
			}
			points, err := run(0, "")
			if err != nil {
				t.Fatalf("without a fault: %v", err)
			}
			t.Logf("%d calls: %v", len(points), points)
			for at, p := range points {
				for n, fate := range p.fates() {
					if spared(at + n) {
						continue
					}
					if _, err := run(at, fate); err != nil {
						t.Error(fmt.Errorf("call %d, %s %s: %s: %w", at, p.kind, p.name, fate, err))
					}
				}
			}
		})
	}
}

// TestALineIsRenamedWhileItsTaskIsMade: a person renames a line while the answer to the creation of
// its task is lost. The new name is an edit of GitHub, and reaches the task.
func TestALineIsRenamedWhileItsTaskIsMade(t *testing.T) {
	t.Parallel()
	for _, f := range []fate{answerLost, lost, late} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			passes(t, func(w *world) {
				w.route.Tasks = mapping.TasksChecklist
				w.restart()
				w.openIssue("Title", "tok2\n\n- [ ] item tok3")
				w.settle()
				w.befall("CreateTasks", f, func() {
					w.editIssue(mapping.Summary, line("line tok4", "line tok5"))
				})
				w.editIssue(mapping.Summary, func(body string) string {
					return mapping.SetItems(body, []mapping.Item{{Text: "line tok4"}})
				})
				w.settle()
				w.verifyAnyList(false)
				if tasks := w.tasksNow(); !slices.ContainsFunc(tasks, func(s string) bool { return strings.Contains(s, "tok5") }) {
					w.fail("the tasks are %v", tasks)
				}
			})
		})
	}
}
