package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
)

// listDeed is one thing that somebody does to a checklist or the text around it.
type listDeed struct {
	after time.Duration // since the deed before
	kind  string
	which int
}

func (d listDeed) String() string { return fmt.Sprintf("%s: %s %d", d.after, d.kind, d.which) }

func listDeeds() *rapid.Generator[[]listDeed] {
	kinds := []string{"tick", "name", "add", "remove", "text", "state", "title", "task", "summary"}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) listDeed {
		return listDeed{
			after: rapid.SampledFrom(moments).Draw(t, "after"),
			kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
			which: rapid.IntRange(0, 5).Draw(t, "which"),
		}
	}), 1, 8)
}

// do lets the deed happen; n makes what is written unique.
func (d listDeed) do(w *world, n int) {
	tok := fmt.Sprint("tok", 100+n)
	items := func(change func(*mapping.Item)) {
		w.editIssue(mapping.Summary, func(body string) string {
			all := mapping.Items(body)
			if len(all) == 0 {
				return body
			}
			item := all[d.which%len(all)]
			change(&item)
			return mapping.SetItems(body, []mapping.Item{item})
		})
	}
	task := func(change func(*mapping.Task)) {
		if all := w.plan.tasks[1:]; len(all) > 0 {
			w.setTask(all[d.which%len(all)].Title.Value, change)
		}
	}
	switch d.kind {
	case "tick":
		items(func(i *mapping.Item) { i.Checked = !i.Checked })
	case "name":
		items(func(i *mapping.Item) { i.Text = "item " + tok })
	case "remove":
		items(func(i *mapping.Item) { i.Remove = true })
	case "add":
		w.editIssue(mapping.Summary, func(body string) string { return mapping.SetItems(body, []mapping.Item{{Text: "line " + tok}}) })
	case "text":
		w.editIssue(mapping.Summary, func(body string) string { return tok + "\n\n" + body })
	case "rewrite":
		w.editIssue(mapping.Summary, func(string) string { return rewritten(tok) })
	case "rename":
		w.editIssue(mapping.Title, to(tok))
	case "retitle":
		w.editCard(mapping.Title, to(tok))
	case "state":
		task(func(t *mapping.Task) {
			t.State.Value = []string{mapping.StateTodo, mapping.StateInProgress, mapping.StateDone}[n%3]
		})
	case "title":
		task(func(t *mapping.Task) {
			w.words.wrote(mapping.Summary, t.Title.Value, "item "+tok)
			t.Title.Value = "item " + tok
		})
	case "task":
		w.words.wrote(mapping.Summary, "", tok)
		w.newTask("task " + tok)
	default:
		w.editCard(mapping.Summary, func(text string) string {
			body, _ := keys.Body(text)
			return strings.TrimSpace(body) + "\n\n" + tok + strings.TrimPrefix(text, body)
		})
	}
}

// TestAnythingMayHappenToChecklists lets people tick, rename, add and remove items and write text
// on both sides. Meanwhile calls fail, processes die and events are late or lost. At the end every
// line has one task with the same text, and no text of a person is lost.
func TestAnythingMayHappenToChecklists(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		todo, sky := listDeeds().Draw(rt, "deeds"), weather().Draw(rt, "weather")
		lags := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 8).Draw(rt, "lags")
		dice, coalesce := rapid.Uint64().Draw(rt, "dice"), drawFold(rt)
		err := inWorld(t, func(w *world) {
			w.dice.Seed(dice, 0)
			w.coalesce = coalesce
			w.route.Tasks = mapping.TasksChecklist
			w.restart()
			w.openIssue("Title", "tok2\n\n- [ ] item tok3\n- [x] item tok4\n\ntok5")
			w.settle()
			w.disturb(lags, sky)
			at := 5 * time.Second
			for i, d := range todo {
				at += d.after
				w.after(at, func() { d.do(w, i) })
			}
			w.settle()
			w.faults.armed = false
			removed := slices.IndexFunc(todo, func(d listDeed) bool { return d.kind == "remove" }) >= 0
			w.verifyAnyList(removed)
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

func (w *world) verifyAnyList(removed bool) {
	if len(w.errs) > 0 {
		return
	}
	g, p := w.itemsOf(w.issue().Body), w.tasksNow()
	for _, item := range g {
		i := slices.Index(p, item)
		if i < 0 {
			w.fail("item %q has no task: items %q, tasks %q", item, g, w.tasksNow())
			return
		}
		p = slices.Delete(p, i, i+1)
	}
	if len(p) > 0 && !removed {
		w.fail("tasks %q have no line: items %q", p, g)
	}
	body, _ := keys.Body(w.issue().Body)
	summary, _ := keys.Body(w.card().Summary.Value)
	if ink(mapping.WithoutItems(body)) != ink(summary) {
		w.fail("text %q, summary %q", body, summary)
	}
	everything := body + summary + strings.Join(w.tasksNow(), " ")
	for _, c := range w.conflicts() {
		everything += c.GitHub + c.Planning
	}
	for _, word := range w.words.words {
		if !w.words.removed[word] && !slices.Contains(token.FindAllString(everything, -1), word.text) {
			w.fail("%q, which a person wrote, is nowhere", word.text)
		}
	}
	w.verifyConflicts(100)
	w.verifyRest()
}

// ink is a text without white space.
func ink(text string) string { return strings.Join(strings.Fields(text), " ") }
