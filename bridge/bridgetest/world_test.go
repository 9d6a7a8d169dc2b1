package bridgetest_test

import (
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// world is a world of a test, on which the tests here hang what they ask of it.
type world struct{ *bridgetest.TestWorld }

func start(t testing.TB, o bridgetest.Options) *world {
	t.Helper()
	return &world{bridgetest.StartIn(t, o)}
}

func TestIssueBecomesCardAndBack(t *testing.T) { onBothStores(t, issueBecomesCardAndBack) }

func issueBecomesCardAndBack(t *testing.T, o bridgetest.Options) {
	w := start(t, o)
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "Login fails", Body: "On *every* browser.", Labels: []string{"points/3"}})
	c := w.Project.Card(card)
	if got := c.Summary; !strings.HasPrefix(got, "On *every* browser.") || !strings.Contains(got, "[acme/web#1](https://github.com/acme/web/issues/1#") {
		t.Errorf("summary %q", got)
	}
	if c.Estimate == nil || *c.Estimate != 3 {
		t.Errorf("estimate %v", c.Estimate)
	}
	w.AwaitSettled()

	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Login fails on Firefox" })
	w.Await("the new title on the card", func() bool { return w.Project.Card(card).Title == "Login fails on Firefox" })
	w.AwaitSettled()

	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Login broken" })
	w.Await("the new title on the issue", func() bool { return w.Repo.Issue(n).Title == "Login broken" })

	w.Repo.Close(n, "octocat", "")
	w.Await("the task done", func() bool { return w.Project.Tasks(card)[0].State == "done" })
	w.AwaitSettled()
	task := w.Project.Tasks(card)[0].ID
	w.Project.EditTask(task, "alice", func(e *planningtest.TaskEdit) { e.State = "in-progress" })
	w.Await("the issue open and in progress", func() bool {
		i := w.Repo.Issue(n)
		return i.State == "open" && slices.Contains(i.Labels, "in-progress")
	})
	w.AwaitSettled()
}

func TestCardBecomesIssue(t *testing.T) { onBothStores(t, cardBecomesIssue) }

func cardBecomesIssue(t *testing.T, o bridgetest.Options) {
	w := start(t, o)
	w.Project.NewCard("Later", "alice", planningtest.CardSpec{Title: "elsewhere"})
	w.Await("a poll", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	five := 5.0
	card := w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "Pay by card", Summary: "Ask @octocat, see #12.", Estimate: &five})
	w.Await("an issue", func() bool { return len(w.Repo.Issues()) == 1 })
	w.AwaitSettled()
	i := w.Repo.Issues()[0]
	if i.Title != "Pay by card" || !slices.Contains(i.Labels, "points/5") || strings.Contains(i.Body, "@octocat") {
		t.Errorf("issue %+v", i)
	}
	w.Repo.Edit(i.Number, "octocat", func(e *githubtest.IssueEdit) { e.Body = strings.Replace(e.Body, "Ask", "Please ask", 1) })
	w.Await("the edited summary on the card", func() bool { return w.Project.Card(card).Summary == "Please ask @octocat, see #12." })
	w.AwaitSettled()
}
