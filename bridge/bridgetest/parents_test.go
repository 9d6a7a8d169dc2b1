package bridgetest_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/logtest"
)

// Where sub-issues are no tasks nobody asks for a parent: that it cannot be
// read keeps no issue from its card.
func TestParentsThatDoNotMatter(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{Route: "tasks: none"})
	w.GitHub.Fault(githubtest.Fault{Match: "parent.get", Times: -1, Kind: githubtest.Before})
	w.OpenIssue(githubtest.IssueSpec{Title: "Title"})
}

// Where parents may not be read, issues have none, and that is said once.
func TestParentsThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	var log logtest.Text
	w := start(t, bridgetest.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w.GitHub.Fault(githubtest.Fault{
		Match: "parent.get", Times: -1, Kind: githubtest.Status, Code: 403,
		Body: `{"message": "Resource not accessible by personal access token", "status": "403"}`,
	})
	for i := range 3 {
		w.OpenIssue(githubtest.IssueSpec{Title: fmt.Sprint("Title ", i)})
	}
	if n := strings.Count(log.String(), "parents of issues may not be read"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// TestParentsThatCannotBeTold: where GitHub cannot return the parents of issues, it does not count
// as down. Issues become cards a moment later, also many at once.
func TestParentsThatCannotBeTold(t *testing.T) {
	t.Parallel()
	var log logtest.Text
	w := start(t, bridgetest.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, op := range []string{"parent.get", "subissue*", "repolabel*", "milestone*", "hooks.list"} {
		w.GitHub.Fault(githubtest.Fault{Match: op, Times: -1, Kind: githubtest.Before})
	}
	for i := range 12 {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Title ", i)})
	}
	w.Await("a card for each", func() bool { return len(w.Project.Cards()) == 12 })
	if strings.Contains(log.String(), "does not answer") {
		t.Error("GitHub was taken to be down")
	}
}
