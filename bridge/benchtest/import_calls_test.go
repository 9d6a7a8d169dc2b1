package benchtest_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"planbridge/mapping/mappingtest"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
)

var importIssues = flag.Int("import.issues", 300, "how many issues TestImport imports")

// TestImport: issues of before the first run become cards in minutes. Nothing of them is
// read but by listings, and one request writes the labels of twenty.
func TestImport(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	issues := *importIssues
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
		await(w, "nothing is left", time.Second, w.NothingDue)
		took, creates, calls := time.Since(began), w.Planning.Calls(planningtest.OpCardCreate), w.GitHub.Journal()
		w.T.Logf("cards after %v, all after %v, %d requests make cards; GitHub: %s", made, took, creates, operations(calls))
		for _, c := range w.Project.Cards() {
			if len(c.Tasks) != 1 {
				w.T.Fatalf("card %q has %d tasks", c.Title, len(c.Tasks))
			}
		}
		if seconds := time.Duration(issues) * time.Second; made > seconds/30 || took > time.Minute+seconds/10 || creates > issues/100+2 {
			w.T.Errorf("%d requests make the cards, the last after %v, all is done after %v", creates, made, took)
		}
		if n := len(calls); n > issues*3/10 {
			w.T.Errorf("%d requests of GitHub for %d issues", n, issues)
		}
		if minute := busiest(calls, time.Minute); minute > documented.PointsPerMinute {
			w.T.Errorf("%d points in a minute", minute)
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
