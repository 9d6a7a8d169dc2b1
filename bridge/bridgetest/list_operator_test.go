package bridgetest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// nameItem gives the only item of an issue two names at once and returns the
// ledger entry.
func (w *world) nameItem(n int, card, github, planning string) mapping.Conflict {
	w.T.Helper()
	goOn := w.Hold()
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = "Words.\n\n- [ ] " + github })
	w.Project.EditTask(w.Project.Tasks(card)[1].ID, "alice", func(e *planningtest.TaskEdit) { e.Title = planning })
	goOn()
	return w.awaitConflict(github, planning)
}

// item is the text of the issue's only item, task the title of its task.
func (w *world) item(n int) string {
	if items := mapping.Items(w.Repo.Issue(n).Body); len(items) == 1 {
		return items[0].Text
	}
	return ""
}

func (w *world) taskTitle(card string) string {
	if tasks := w.Project.Tasks(card); len(tasks) == 2 {
		return tasks[1].Title
	}
	return ""
}

// TestTasksByTheirNumbers: the number of the task of a line, and of a tracking task, finds the
// pair.
func TestTasksByTheirNumbers(t *testing.T) {
	w, _, card := oneItem(t, "")
	w.AwaitSettled()
	for _, task := range w.Project.Tasks(card) {
		l, err := w.App.Operator().FindNumbered(t.Context(), strconv.Itoa(task.CID))
		if err != nil || string(l.Card.ID) != card {
			t.Errorf("%s, number %d: %v, %v", task.Title, task.CID, l, err)
		}
	}
}

// oneItem is a world with an issue that has one item.
func oneItem(t *testing.T, route string) (w *world, n int, card string) {
	w = start(t, bridgetest.Options{Route: "tasks: checklist\n" + route})
	n = w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Title", Body: "Words.\n\n- [ ] item"})
	w.Await("its task", func() bool {
		cards := w.Project.Cards()
		return len(cards) == 1 && len(cards[0].Tasks) == 2
	})
	w.AwaitSettled()
	return w, n, w.Project.Cards()[0].ID
}

func TestItemConflictIsAsked(t *testing.T) {
	t.Parallel()
	w, n, card := oneItem(t, "conflicts: {default: ask}")
	for _, winner := range []mapping.Side{mapping.GitHub, mapping.Planning} {
		g, p := "item of github "+string(winner), "item of planning "+string(winner)
		c := w.nameItem(n, card, g, p)
		w.Await("the label", func() bool { return slices.Contains(w.Repo.Issue(n).Labels, "plan:conflict") })
		w.AwaitSettled()
		if w.item(n) != g || w.taskTitle(card) != p || w.Repo.Issue(n).Title != "Title" {
			t.Fatalf("a name was overwritten while it was asked: %q, %q", w.item(n), w.taskTitle(card))
		}
		if err := w.App.Operator().ResolveConflict(t.Context(), c.ID, winner); err != nil {
			t.Fatal(err)
		}
		want := map[mapping.Side]string{mapping.GitHub: g, mapping.Planning: p}[winner]
		w.Await("the winner on both sides and no label", func() bool {
			return w.item(n) == want && w.taskTitle(card) == want && !slices.Contains(w.Repo.Issue(n).Labels, "plan:conflict")
		})
		w.AwaitSettled()
	}
}

func TestItemConflictIsUndone(t *testing.T) {
	t.Parallel()
	for _, winner := range []mapping.Side{mapping.GitHub, mapping.Planning} {
		w, n, card := oneItem(t, "conflicts: {default: "+string(winner)+"}")
		c := w.nameItem(n, card, "item of github", "item of planning")
		won, lost := "item of github", "item of planning"
		if winner == mapping.Planning {
			won, lost = lost, won
		}
		w.Await("the winner on both sides", func() bool { return w.item(n) == won && w.taskTitle(card) == won })
		w.AwaitSettled()
		if err := w.App.Operator().UndoConflict(t.Context(), c.ID); err != nil {
			t.Fatal(err)
		}
		w.Await("the loser on both sides", func() bool { return w.item(n) == lost && w.taskTitle(card) == lost })
		w.AwaitSettled()
		if i := w.Repo.Issue(n); i.Title != "Title" || w.Project.Card(card).Title != "Title" {
			t.Errorf("the titles are %q and %q", i.Title, w.Project.Card(card).Title)
		}
	}
}

// TestListWithoutItsStore: lines and tasks find one another again when the store
// was lost, those that a person made in planning as well.
func TestListWithoutItsStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "planbridge.db")
	w := start(t, bridgetest.Options{Route: "tasks: checklist", Store: "file:" + path})
	n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Title", Body: "Words.\n\n- [ ] one\n- [x] two"})
	w.Await("tasks", func() bool {
		cards := w.Project.Cards()
		return len(cards) == 1 && w.done(cards[0].ID) == 1
	})
	card := w.Project.Cards()[0].ID
	w.Project.NewTask(card, "alice", planningtest.TaskSpec{Title: "three"})
	w.Await("its line", func() bool { return len(mapping.Items(w.Repo.Issue(n).Body)) == 3 })
	w.AwaitSettled()
	if err := w.StopBridge(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	w.Await("the link", func() bool {
		_, err := w.App.Operator().Find(t.Context(), bridgetest.RepoName+"#1")
		return err == nil
	})
	w.AwaitSettled()
	w.Project.EditTask(w.Project.Tasks(card)[3].ID, "alice", func(e *planningtest.TaskEdit) { e.State = mapping.StateDone })
	w.Await("the tick of the third", func() bool { return bridgetest.ItemTexts(w.Repo.Issue(n).Body) == "[ ] one, [x] two, [x] three" })
	w.AwaitSettled()
	if got := bridgetest.TaskTexts(w.Project.Tasks(card)); got != "todo one, done two, done three" {
		t.Errorf("tasks %s", got)
	}
	if body := w.Repo.Issue(n).Body; !strings.HasPrefix(body, "Words.\n") || w.Project.Card(card).Title != "Title" {
		t.Errorf("body %q", body)
	}
}

// TestListBegins: items begin to stand for tasks on a route that has links. An item and a task with
// one text become one, and all else that was on the card before stays unchanged.
func TestListBegins(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{Route: "tasks: none"})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "Title", Body: "Words.\n\n- [ ] both\n- [ ] item"})
	w.Project.NewTask(card, "alice", planningtest.TaskSpec{Title: "both"})
	w.Project.NewTask(card, "alice", planningtest.TaskSpec{Title: "old"})
	w.AwaitSettled()
	w.reload(strings.Replace(w.YAML(), "tasks: none", "tasks: checklist", 1))
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Touched" })
	w.Await("the task of the item", func() bool { return strings.Contains(bridgetest.TaskTexts(w.Project.Tasks(card)), "todo item") })
	w.AwaitSettled()
	if got := bridgetest.TaskTexts(w.Project.Tasks(card)); got != "todo both, todo old, todo item" {
		t.Errorf("tasks %s", got)
	}
	if got := bridgetest.ItemTexts(w.Repo.Issue(n).Body); got != "[ ] both, [ ] item" {
		t.Errorf("items %s", got)
	}
}

// TestTaskOfAJoinedCardGetsItsLine: nothing is agreed on yet about the text of an
// issue and a card that were joined. A task that a person makes meanwhile gets its
// line all the same, though the first write of the body has none.
func TestTaskOfAJoinedCardGetsItsLine(t *testing.T) {
	t.Parallel()
	w, now := past(t, bridgetest.Options{Route: "tasks: checklist\nconflicts: {default: ask}"})
	n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "same", Body: "GitHub's words.\n\n- [ ] item"})
	card := w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "same", Summary: "Planning's words."})
	now()
	w.FinishJob(w.BeginImport(status.ImportAsk{Match: "title"}))
	var c mapping.Conflict
	w.Await("a question about the text", func() bool {
		cs, err := w.App.Operator().Conflicts(t.Context(), 10)
		if len(cs) == 1 {
			c = cs[0]
		}
		return err == nil && c.Attribute == mapping.Summary && len(c.Comments) > 0
	})
	w.AwaitSettled()
	w.Project.NewTask(card, "alice", planningtest.TaskSpec{Title: "more"})
	w.AwaitSettled()
	if err := w.App.Operator().ResolveConflict(t.Context(), c.ID, mapping.Planning); err != nil {
		t.Fatal(err)
	}
	w.Await("planning's words and both lines", func() bool {
		items := mapping.Items(w.Repo.Issue(n).Body)
		return strings.HasPrefix(w.Repo.Issue(n).Body, "Planning's words.") && len(items) == 2 && items[1].Text == "more"
	})
	w.AwaitSettled()
	if tasks := w.Project.Tasks(card); len(tasks) != 3 || len(mapping.Items(w.Repo.Issue(n).Body)) != 2 {
		t.Errorf("%d tasks, body %q", len(tasks), w.Repo.Issue(n).Body)
	}
}
