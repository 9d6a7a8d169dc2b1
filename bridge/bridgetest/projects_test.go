package bridgetest_test

import (
	"fmt"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// TestTransferBetweenProjects: an issue has one partner for life. The repository that it is
// transferred to may belong to another planning project. Its link rests then, and no second card is
// made there. Transferred back, it goes on.
func TestTransferBetweenProjects(t *testing.T) {
	t.Parallel()
	var w *world
	var second *planningtest.Project
	w = start(t, bridgetest.Options{Idle: true, Config: func(yaml string) string {
		yaml = strings.Replace(yaml, "users: {", fmt.Sprintf("    api: {id: %s, secret: env:PLANNING_WEB_SECRET, username: %s}\nusers: {", second.ID(), bridgetest.BridgeUser), 1)
		return yaml + "  - repository: acme/api\n    project: api\n    bucket: Inbox\n"
	}})
	second = w.Planning.AddProject(planningtest.ProjectSpec{Title: "API", Members: []string{bridgetest.BridgeUser}, Buckets: []string{"Inbox"}})
	second.AddSecret(w.Project.Secret())
	api := w.GitHub.AddRepo("acme/api", githubtest.RepoSpec{Private: true})
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	w.GitHub.AddHook("acme/api", w.WebhookURL(), bridgetest.WebhookSecret)
	api.Open("octocat", githubtest.IssueSpec{Title: "of the other project"})
	w.Await("a card in the other project", func() bool { return len(second.Cards()) == 1 })

	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "transferred"})
	there := w.Repo.Transfer(n, "acme/api")
	state := func(name string) (mapping.LinkState, string) {
		l, err := w.App.Operator().Find(t.Context(), name)
		if err != nil {
			return "", ""
		}
		return l.State, l.Why
	}
	w.Await("its link rests", func() bool {
		s, why := state(fmt.Sprintf("acme/api#%d", there))
		return s == mapping.Left && strings.Contains(why, "another planning project")
	})
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "meanwhile" })
	w.AwaitSettled()
	if cards := second.Cards(); len(cards) != 1 || api.Issue(there).Title != "transferred" {
		t.Errorf("%d cards in the other project, and the issue is called %q", len(cards), api.Issue(there).Title)
	}
	back := api.Transfer(there, bridgetest.RepoName)
	w.Await("what was changed meanwhile", func() bool { return w.Repo.Issue(back).Title == "meanwhile" })
	w.AwaitSettled()
	if s, why := state(fmt.Sprintf("acme/web#%d", back)); s != mapping.Linked || len(w.Project.Cards()) != 1 || len(second.Cards()) != 1 {
		t.Errorf("the link is %s (%s), with %d and %d cards", s, why, len(w.Project.Cards()), len(second.Cards()))
	}
}

// TestSubIssueOfAnotherProject: an issue with a card in one project becomes a sub-issue of one with
// its card in another. It keeps its card, and gets no task there.
func TestSubIssueOfAnotherProject(t *testing.T) {
	t.Parallel()
	s := newSplit(t, bridgetest.Options{})
	s.GitHub.SetDelivery(nil)
	if err := s.StartBridge(); err != nil {
		t.Fatal(err)
	}
	s.Await("the first polls", func() bool { return s.Planning.Calls(planningtest.OpBacklogItems) > 6 })
	parent := s.Repo.Open("octocat", githubtest.IssueSpec{Title: "parent", Labels: []string{"one"}})
	child := s.Repo.Open("octocat", githubtest.IssueSpec{Title: "child", Labels: []string{"two"}})
	s.Await("two cards", func() bool { return len(s.Project.Cards()) == 1 && len(s.other.Cards()) == 1 })
	s.AwaitSettled()
	s.Repo.AddSubIssue(parent, child)
	s.AwaitSettled()
	tasks := s.Project.Tasks(s.Project.Cards()[0].ID)
	if len(tasks) != 1 || len(s.cards()) != 2 {
		t.Errorf("the parent's card has the tasks %q, and there are %d cards", bridgetest.TaskTitles(tasks), len(s.cards()))
	}
	s.Repo.Edit(child, "octocat", func(e *githubtest.IssueEdit) { e.Title = "child, edited" })
	s.Await("the edit on its card", func() bool { return s.other.Cards()[0].Title == "child, edited" })
}
