package bridgetest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// TestMeasuredManyEditsOverHTTP: 813 edits of one issue within 25 s cost few writes and few calls
// of GitHub. The last text crosses soon, and nothing is parked.
func TestMeasuredManyEditsOverHTTP(t *testing.T) {
	t.Parallel()
	const edits, within = 813, 25 * time.Second
	w := start(t, bridgetest.Options{CatchUp: time.Hour, Settle: bridgetest.EchoesWithin, Coalesce: 2 * time.Second, Poll: 2 * time.Second})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "Title", Body: "Body"})
	w.AwaitSettled()
	w.GitHub.ResetJournal()
	w.Planning.ResetJournal()
	began, last := time.Now(), ""
	for i := range edits {
		<-time.After(time.Until(began.Add(time.Duration(i) * within / edits)))
		last = fmt.Sprint("Text ", i)
		w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = last })
	}
	ended := time.Now()
	w.Await("the last text on the card", func() bool { return strings.HasPrefix(w.Project.Card(card).Summary, last) })
	crossed := time.Since(ended)
	w.AwaitSettled()
	github, planning := w.Counted()
	puts := planning[planningtest.OpCardUpdate]
	t.Logf("%d edits in %s: %d PUTs, %v of GitHub, the last crossed after %s", edits, ended.Sub(began), puts, github, crossed)
	if puts > 25 || github.Sum(bridgetest.AnyCall) > 40 || crossed > 35*time.Second {
		t.Errorf("want at most 25 PUTs, 40 calls of GitHub and 35 s")
	}
	if failures, err := w.App.Operator().Failures(t.Context()); err != nil || len(failures) > 0 {
		t.Errorf("parked: %+v, %v", failures, err)
	}
}
