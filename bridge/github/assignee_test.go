package github_test

import (
	"slices"
	"testing"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/githubtest"
	"planbridge/mapping"
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

func TestActedEventsAgainstTheSimulator(t *testing.T) {
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
	if _, err := c.AddLabels(ctx, repo, n, []string{"doing"}); err != nil {
		t.Fatal(err)
	}
	got, err := c.ActedEvents(ctx, repo, n)
	if err != nil || len(got) != 4 {
		t.Fatalf("events %+v, %v", got, err)
	}
	for i, want := range []github.Acted{
		{Act: mapping.Act{Event: "closed"}, Actor: "octocat"},
		{Act: mapping.Act{Event: "reopened"}, Actor: "octocat"},
		{Act: mapping.Act{Event: "closed"}, Actor: "bridge"},
		{Act: mapping.Act{Event: "labeled", Label: "doing"}, Actor: "bridge"},
	} {
		if got[i].Act != want.Act || got[i].Actor != want.Actor || want.Actor == "bridge" && got[i].At.Before(before) {
			t.Errorf("event %d: %+v, want %+v", i, got[i], want)
		}
	}
}
