package bridgetest_test

import (
	"fmt"
	"testing"
	"time"

	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// TestCallsPerChangeOfASubIssue holds DESIGN's numbers for sub-issues: an edit
// of one costs one planning call and no read, one of its task a read and a write
// on GitHub.
func TestCallsPerChangeOfASubIssue(t *testing.T) {
	w, n, card := quietWorld(t)
	sub := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Below"})
	w.Repo.AddSubIssue(n, sub)
	w.until("the task", func() bool { return len(w.Project.Tasks(card)) == 2 })
	w.settled()
	task := func() planningtest.TaskState { return w.Project.Tasks(card)[1] }
	for i := range 3 {
		title := fmt.Sprintf("of GitHub %d", i)
		github, planning := w.spent(
			func() { w.Repo.Edit(sub, "octocat", func(e *githubtest.IssueEdit) { e.Title = title }) },
			func() bool { return task().Title == title })
		if planning.sum(all) != 1 || github.sum(all) != 0 {
			t.Errorf("an edit of a sub-issue took %v of planning and %v of GitHub", planning, github)
		}
	}
	now := time.Now()
	w.Project.MoveToSprint(card, w.Project.NewSprint(planningtest.SprintSpec{Title: "Now", Start: now.Add(-time.Hour), End: now.Add(time.Hour)}))
	w.settled()
	for i := range 3 {
		title := fmt.Sprintf("of planning %d", i)
		github, planning := w.spent(
			func() { w.Project.EditTask(task().ID, "alice", func(e *planningtest.TaskEdit) { e.Title = title }) },
			func() bool { return w.Repo.Issue(sub).Title == title })
		if planning.sum(all) != 0 || github["issue.get"] != 1 || github["issue.patch"] != 1 || github.sum(all) != 2 {
			t.Errorf("an edit of a task took %v of planning and %v of GitHub", planning, github)
		}
	}
}
