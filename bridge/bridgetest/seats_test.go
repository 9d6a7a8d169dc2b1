package bridgetest_test

import (
	"fmt"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// TestNoMoreCallsAtOnceThanAllowed: keys that are in hand beside those at a
// service wait for their turn, pending record and all.
func TestNoMoreCallsAtOnceThanAllowed(t *testing.T) {
	t.Parallel()
	const seats, issues = 2, 12
	w := start(t, bridgetest.Options{Concurrency: seats})
	var numbers []int
	for n := range issues {
		number, _ := w.OpenIssue(githubtest.IssueSpec{Title: fmt.Sprint("Issue ", n), Body: "Body"})
		numbers = append(numbers, number)
	}
	w.AwaitSettled()
	w.Planning.ResetJournal()
	w.Planning.SetLatency(50 * time.Millisecond)
	for _, n := range numbers {
		w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = fmt.Sprint("Edited ", n) })
	}
	w.Await("all titles are written", func() bool { return w.Planning.Calls(planningtest.OpCardUpdate) >= issues })
	var writes []planningtest.Call
	for _, c := range w.Planning.Journal() {
		if c.Op == planningtest.OpCardUpdate {
			writes = append(writes, c)
		}
	}
	for _, c := range writes {
		at := 0 // of the writes that began no later than this one, those that were not at their end
		for _, o := range writes {
			if !o.Time.After(c.Time) && o.Time.Add(o.Duration).After(c.Time) {
				at++
			}
		}
		if at > seats {
			t.Errorf("%d writes were at planning at once, want %d at most", at, seats)
		}
	}
}
