package bridgetest_test

import (
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// TestNewCardsOfSeveralRepositories: one route of a glob and a name has cards of all its
// repositories. A new card becomes an issue in the repository that the route names.
func TestNewCardsOfSeveralRepositories(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{
		Config: func(yaml string) string {
			return strings.Replace(yaml, "repository: acme/web", "repositories: [acme/web, 'acme/lib-*']\n    name: all\n    new_cards_in: acme/lib-c", 1)
		},
	})
	api := w.GitHub.AddRepo("acme/lib-c", githubtest.RepoSpec{Private: true})
	w.GitHub.AddHook("acme/lib-c", w.WebhookURL(), bridgetest.WebhookSecret)
	w.OpenIssue(githubtest.IssueSpec{Title: "of the name"})
	api.Open("octocat", githubtest.IssueSpec{Title: "of the glob"})
	w.Await("two cards", func() bool { return len(w.Project.Cards()) == 2 })
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "of planning"})
	w.Await("an issue of the card", func() bool {
		issues := api.Issues()
		return len(issues) == 2 && issues[1].Title == "of planning"
	})
	w.AwaitSettled()
	if n := len(w.Repo.Issues()); n != 1 {
		t.Errorf("%d issues in the other repository", n)
	}
}
