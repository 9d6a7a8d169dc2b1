package bridgetest_test

import (
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// TestVerifyInterval: the metric of the links that differ is set though nobody asks, and falls
// when they agree again.
func TestVerifyInterval(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{Config: func(yaml string) string { return yaml + "verify_interval: 1s\n" }})
	_, card := w.OpenIssue(githubtest.IssueSpec{Title: "Title"})
	w.AwaitSettled()
	drift := func(want string) func() bool {
		return func() bool {
			got, err := w.Metric(`drift_links{route="acme/web"}`)
			return err == nil && got == want
		}
	}
	if err := w.App.Operator().Pause(t.Context(), "acme/web"); err != nil {
		t.Fatal(err)
	}
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Edited" })
	w.Await("a link that differs", drift("1"))
	if err := w.App.Operator().Resume(t.Context(), "acme/web"); err != nil {
		t.Fatal(err)
	}
	w.Await("no link that differs", drift("0"))
}
