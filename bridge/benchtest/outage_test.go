package benchtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping/mappingtest"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// TestOutage: planning is away for an hour, and 2,000 edits wait for it. When it is back
// they are written about as fast as it takes them, and what people do then waits for none of them.
func TestOutage(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	o := outage(t, 2000)
	t.Logf("noticed after %v; %.0f edits a second, planning takes %.0f; the slowest edit of that moment took %v", o.noticed, o.rate, o.own, o.slowest)
	if o.rate < 0.9*o.own {
		t.Errorf("%.0f edits a second, want %.0f", o.rate, 0.9*o.own)
	}
	if o.slowest > 5*time.Second || o.noticed > 5*time.Second {
		t.Errorf("the first write came after %v, and an edit of that moment took %v, want at most 5 s", o.noticed, o.slowest)
	}
}

// anOutage is how what waited for planning was written.
type anOutage struct {
	noticed   time.Duration // until the first write, counted from planning's return
	rate, own float64       // edits a second, and how many planning takes
	slowest   time.Duration // edit of that moment
}

// outage has planning be away for an hour while so many issues are edited.
func outage(t *testing.T, waiting int) (o anOutage) {
	t.Helper()
	const live, atOnce = 60, 16
	fixed := func(yaml string) string { // the polls are not what is measured
		return strings.Replace(yaml, "\nplanning:\n", "\nplanning:\n  poll_min: 30s\n", 1)
	}
	virtually(t, bridgetest.Options{Config: fixed, Concurrency: atOnce}, func(w *bridgetest.TestWorld) {
		if err := w.StartBridge(); err != nil {
			w.T.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		edit := linkedIssues(w, waiting+live)
		w.Planning.Down(true)
		for i := range waiting {
			edit(i)
			time.Sleep(time.Hour / time.Duration(waiting))
		}
		w.Planning.ResetJournal()
		w.Planning.Down(false)
		back := time.Now()
		written := func() int { return w.Planning.Calls(planningtest.OpCardUpdate) }
		for n := 0; written() < waiting+n; n++ {
			if n == live {
				w.T.Fatalf("%d edits of that moment are made, and %d writes in all", live, written())
			}
			edited, there := time.Now(), edit(waiting+n)
			await(w, "an edit of that moment", 10*time.Millisecond, there)
			o.slowest = max(o.slowest, time.Since(edited))
			time.Sleep(300 * time.Millisecond)
		}
		calls := w.Planning.Journal()
		first := calls[slices.IndexFunc(calls, func(c planningtest.Call) bool { return c.Op == planningtest.OpCardUpdate })].Time
		o.noticed, o.rate, o.own = first.Sub(back), float64(waiting)/time.Since(first).Seconds(), atOnce/answersWithin.Seconds()
	})
	return o
}

// linkedIssues makes issues, and waits until each shows its card. Somebody edits one of them by
// its index. Then there is a way to ask whether its card shows that.
func linkedIssues(w *bridgetest.TestWorld, issues int) (edit func(i int) (there func() bool)) {
	w.T.Helper()
	numbers, cards := make([]int, issues), map[string]string{}
	for i := range numbers {
		numbers[i] = w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Issue ", i)})
		time.Sleep(250 * time.Millisecond)
	}
	await(w, "each issue shows its card", time.Minute, func() bool { return labelled(w) == issues })
	for _, c := range w.Project.Cards() {
		cards[c.Title] = c.ID
	}
	return func(i int) func() bool {
		title := fmt.Sprint("Edited ", i)
		w.Repo.Edit(numbers[i], "octocat", func(e *githubtest.IssueEdit) { e.Title = title })
		return func() bool { return w.Project.Card(cards[fmt.Sprint("Issue ", i)]).Title == title }
	}
}
