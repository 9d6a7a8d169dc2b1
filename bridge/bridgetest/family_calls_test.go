package bridgetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// TestCallsPerChangeOfASubIssue holds the numbers for sub-issues. An edit of one costs one planning
// call and no read. An edit of its task costs a read and a write on GitHub.
func TestCallsPerChangeOfASubIssue(t *testing.T) {
	t.Parallel()
	w, n, card := quietWorld(t)
	sub := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Below"})
	w.Repo.AddSubIssue(n, sub)
	w.Await("the task", func() bool { return len(w.Project.Tasks(card)) == 2 })
	w.AwaitSettled()
	task := func() planningtest.TaskState { return w.Project.Tasks(card)[1] }
	for i := range 3 {
		title := fmt.Sprintf("of GitHub %d", i)
		github, planning := w.Spent(
			func() { w.Repo.Edit(sub, "octocat", func(e *githubtest.IssueEdit) { e.Title = title }) },
			func() bool { return task().Title == title })
		if planning.Sum(bridgetest.AnyCall) != 1 || github.Sum(bridgetest.AnyCall) != 0 {
			t.Errorf("an edit of a sub-issue took %v of planning and %v of GitHub", planning, github)
		}
	}
	now := time.Now()
	w.Project.MoveToSprint(card, w.Project.NewSprint(planningtest.SprintSpec{Title: "Now", Start: now.Add(-time.Hour), End: now.Add(time.Hour)}))
	w.AwaitSettled()
	for i := range 3 {
		title := fmt.Sprintf("of planning %d", i)
		github, planning := w.Spent(
			func() { w.Project.EditTask(task().ID, "alice", func(e *planningtest.TaskEdit) { e.Title = title }) },
			func() bool { return w.Repo.Issue(sub).Title == title })
		if planning.Sum(bridgetest.AnyCall) != 0 || github["issue.get"] != 1 || github["issue.patch"] != 1 || github.Sum(bridgetest.AnyCall) != 2 {
			t.Errorf("an edit of a task took %v of planning and %v of GitHub", planning, github)
		}
	}
}

// TestSubIssuesWithoutTheirStore: sub-issues and tasks find one another again
// when the store was lost, whichever side they came from, and nothing is
// doubled.
func TestSubIssuesWithoutTheirStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "planbridge.db")
	w := start(t, bridgetest.Options{Store: "file:" + path})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "Title"})
	w.AwaitSettled()
	w.Repo.AddSubIssue(n, w.Repo.Open("octocat", githubtest.IssueSpec{Title: "of GitHub"}))
	w.Project.NewTask(card, "alice", planningtest.TaskSpec{Title: "of planning"})
	w.Await("both pairs", func() bool { return len(w.Project.Tasks(card)) == 3 && len(w.Repo.Issues()) == 3 })
	w.AwaitSettled()
	if err := w.StopBridge(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.Repo.AddSubIssue(n, w.Repo.Open("octocat", githubtest.IssueSpec{Title: "meanwhile"}))
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	w.Await("the pairs", func() bool {
		l, err := w.App.Operator().Find(t.Context(), bridgetest.RepoName+"#1")
		return err == nil && len(l.SubLinks) == 3
	})
	w.AwaitSettled()
	for _, i := range w.Repo.Issues()[1:] {
		w.Repo.Edit(i.Number, "octocat", func(e *githubtest.IssueEdit) { e.Title += ", edited" })
	}
	want := []string{"of GitHub, edited", "of planning, edited", "meanwhile, edited"}
	w.Await("their edits", func() bool {
		var got []string
		for _, task := range w.Project.Tasks(card)[1:] {
			got = append(got, task.Title)
		}
		return slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))
	})
	w.AwaitSettled()
	if issues, cards := len(w.Repo.Issues()), len(w.Project.Cards()); issues != 4 || cards != 1 {
		t.Errorf("%d issues and %d cards", issues, cards)
	}
}
