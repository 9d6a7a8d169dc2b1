package benchtest_test

import (
	"fmt"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
)

// TestMeasuredImport: issues of before the first run become cards in minutes. Each costs one
// request of GitHub, its labels, and nothing of it is read but by listings.
func TestMeasuredImport(t *testing.T) {
	const issues = 300
	virtually(t, bridgetest.Options{}, func(w *bridgetest.TestWorld) {
		for i := range issues {
			w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Issue ", i)})
		}
		time.Sleep(time.Hour)
		if err := w.StartBridge(); err != nil {
			w.T.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.GitHub.ResetJournal()
		began := time.Now()
		w.BeginImport(status.ImportAsk{})
		await(w, "each issue has its card", time.Second, func() bool { return len(w.Project.Cards()) == issues })
		made := time.Since(began)
		await(w, "each issue has its labels", time.Second, func() bool { return labelled(w) == issues })
		creates, calls := w.Planning.Calls(planningtest.OpCardCreate), w.GitHub.Journal()
		w.T.Logf("cards after %v, labels after %v, %d requests make cards; GitHub: %s", made, time.Since(began), creates, operations(calls))
		if made > 10*time.Second || creates > issues/100+2 {
			w.T.Errorf("%d requests make the cards, the last after %v", creates, made)
		}
		if n := len(calls); n > issues*12/10 {
			w.T.Errorf("%d requests of GitHub for %d issues", n, issues)
		}
		if refused(calls) > 0 {
			w.T.Errorf("%d requests were limited", refused(calls))
		}
	})
}

// labelled is how many issues show something of their cards.
func labelled(w *bridgetest.TestWorld) (n int) {
	for _, i := range w.Repo.Issues() {
		if len(i.Labels) > 0 {
			n++
		}
	}
	return n
}
