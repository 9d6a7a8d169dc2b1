package github_test

import (
	"slices"
	"testing"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/githubtest"
)

func TestAssigneesAgainstTheSimulator(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	c, ctx := w.client(t), background(t)
	n := w.repo.Open("octocat", githubtest.IssueSpec{Title: "Who?"})
	w.repo.Assign(n, "octocat", "monalisa")
	w.repo.Exclude("ghost")
	i, err := c.Assign(ctx, repo, n, []string{"hubot", "ghost"})
	if err != nil || !slices.Equal(i.Assignees, []string{"monalisa", "hubot"}) || i.Number != n {
		t.Errorf("after adding: %+v, %v", i, err)
	}
	i, err = c.Unassign(ctx, repo, n, []string{"hubot", "nobody"})
	if err != nil || !slices.Equal(i.Assignees, []string{"monalisa"}) {
		t.Errorf("after removing: %+v, %v", i, err)
	}
	w.SetTraits(func(t *githubtest.Traits) { t.NoPush = true })
	if i, err = c.Assign(ctx, repo, n, []string{"hubot"}); err != nil || len(i.Assignees) != 1 {
		t.Errorf("without the right to push: %+v, %v", i, err)
	}
}

func TestClosedEventsAgainstTheSimulator(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	c, ctx := w.client(t), background(t)
	n := w.repo.Open("octocat", githubtest.IssueSpec{Title: "Closed, and closed again"})
	w.repo.Close(n, "octocat", "")
	w.repo.Reopen(n, "octocat")
	before := w.Now().Truncate(time.Second)
	state := "closed"
	if _, err := c.EditIssue(ctx, repo, n, github.IssueEdit{State: &state}); err != nil {
		t.Fatal(err)
	}
	got, err := c.ClosedEvents(ctx, repo, n)
	if err != nil || len(got) != 2 || got[0].Actor != "octocat" || got[1].Actor != "bridge" || got[1].At.Before(before) {
		t.Errorf("closed events %+v, %v", got, err)
	}
}
