package bridgetest_test

import (
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// TestHardTextsCross: texts whose defusing once took minutes cross, and other
// edits are not kept waiting.
func TestHardTextsCross(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "to be edited"})
	for _, text := range []string{strings.Repeat("a://a/", 4096) + "issues/1", strings.Repeat("://", 20000) + " @octocat"} {
		w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Summary = text })
		w.Await("the issue has the text", func() bool { return strings.HasPrefix(unmarked(w.Repo.Issue(n).Body), text) })
		if body := w.Repo.Issue(n).Body; strings.Contains(body, "@octocat") || strings.Contains(body, "://a/issues") {
			t.Errorf("the issue's text is live: …%s", body[len(body)-200:])
		}
		w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = "Thanks.\n\n" + e.Body })
		w.Await("the card has GitHub's edit", func() bool {
			return strings.HasPrefix(w.Project.Card(card).Summary, "Thanks.\n\n"+text)
		})
	}
}

// unmarked is a text without the characters that defuse it.
func unmarked(text string) string {
	return strings.NewReplacer("\u2060", "", "\u2064", "").Replace(text)
}
