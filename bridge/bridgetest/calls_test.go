package bridgetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// quietWorld is a world without the sweep of tasks and without catch-ups in the
// midst of our writes, and a linked issue.
func quietWorld(t testing.TB) (w *world, n int, card string) {
	w = start(t, bridgetest.Options{CatchUp: time.Hour, Settle: bridgetest.EchoesWithin, Config: func(yaml string) string {
		return strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: 1h", 1)
	}})
	n, card = w.OpenIssue(githubtest.IssueSpec{Title: "Title", Body: "Body", Labels: []string{"points/1"}})
	w.AwaitSettled()
	return w, n, card
}

// TestCallsPerChange holds the numbers of docs/performance.md. A GitHub edit costs one planning
// call and no read. A planning edit costs one read and one write on GitHub, and one more for each
// label that changes.
func TestCallsPerChange(t *testing.T) {
	t.Parallel()
	w, n, card := quietWorld(t)
	for i := range 3 {
		github, planning := w.EditTitle(n, card, fmt.Sprintf("of GitHub %d", i))
		if planning.Sum(bridgetest.AnyCall) != 1 || github.Sum(bridgetest.AnyCall) != 0 {
			t.Errorf("a GitHub edit took %v of planning and %v of GitHub", planning, github)
		}
	}
	for i := range 3 {
		github, planning := w.EditCard(n, card, fmt.Sprintf("of planning %d", i), 1)
		if planning.Sum(bridgetest.AnyCall) != 0 || github["issue.get"] != 1 || github["issue.patch"] != 1 || github.Sum(bridgetest.AnyCall) != 2 {
			t.Errorf("a planning edit took %v of planning and %v of GitHub", planning, github)
		}
	}
	github, planning := w.EditCard(n, card, "and an estimate", 2)
	if planning.Sum(bridgetest.AnyCall) != 0 || github.Sum(bridgetest.Reads) != 1 || github.Sum(bridgetest.Writes) != 3 {
		t.Errorf("a planning edit with two labels took %v of planning and %v of GitHub", planning, github)
	}
}

// TestCallsOfLabels holds the read of a planning edit to one, also where labels carry the value on
// GitHub. Events of our own steps are no news, in any order.
func TestCallsOfLabels(t *testing.T) {
	t.Parallel()
	t.Run("as they happen", func(t *testing.T) { labelCalls(t, func(*world) {}, func(*world) {}) })
	t.Run("at once", func(t *testing.T) {
		labelCalls(t, func(w *world) { w.GitHub.PauseDeliveries() }, func(w *world) { w.GitHub.ReleaseDeliveries() })
	})
	t.Run("out of order", func(t *testing.T) {
		labelCalls(t, func(w *world) { w.GitHub.PauseDeliveries() }, func(w *world) {
			w.GitHub.ShuffleDeliveries()
			w.GitHub.ReleaseDeliveries()
		})
	})
}

// labelCalls changes values in planning that labels carry, and checks the end state and the calls
// of GitHub. The functions hold and deliver are called around each change's arrival on GitHub.
func labelCalls(t *testing.T, hold, deliver func(*world)) {
	t.Parallel()
	w, n, card := quietWorld(t)
	task := w.Project.Card(card).Tasks[0].ID
	change := func(what string, act func(), state string, labels ...string) {
		t.Helper()
		reached := func() bool {
			i := w.Repo.Issue(n)
			return i.State == state && slices.Equal(slices.Sorted(slices.Values(i.Labels)), labels)
		}
		github, _ := w.Spent(func() { hold(w); act() }, func() bool {
			if !reached() {
				return false
			}
			deliver(w)
			return true
		})
		if github["issue.get"] > 1 {
			t.Errorf("%s took %v of GitHub", what, github)
		}
		if !reached() {
			t.Errorf("%s ended as %+v", what, w.Repo.Issue(n))
		}
	}
	estimate := func(points float64) func() {
		return func() { w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Estimate = &points }) }
	}
	status := func(to string) func() {
		return func() { w.Project.EditTask(task, "alice", func(e *planningtest.TaskEdit) { e.State = to }) }
	}
	const bucket = "bucket:Incoming"
	change("an estimate", estimate(2), "open", bucket, "plan:To Do", "points/2")
	change("another one", estimate(3), "open", bucket, "plan:To Do", "points/3")
	change("a begin", status("in-progress"), "open", bucket, "in-progress", "plan:In Progress", "points/3")
	change("a return", status("todo"), "open", bucket, "plan:To Do", "points/3")
	change("an end", status("done"), "closed", bucket, "plan:Done", "points/3")
	change("a reopening", status("in-progress"), "open", bucket, "in-progress", "plan:In Progress", "points/3")
}

// TestCallsOfIdlePolls holds the third number: while nothing happens a poll
// takes 2 calls and one a sprint, and GitHub answers nothing but 304.
func TestCallsOfIdlePolls(t *testing.T) {
	t.Parallel()
	w, _, card := quietWorld(t)
	const sprints, polls = 2, 10
	now := time.Now()
	for i := range sprints {
		id := w.Project.NewSprint(planningtest.SprintSpec{Title: fmt.Sprint("Sprint ", i), Start: now.Add(-time.Hour), End: now.Add(time.Hour)})
		w.Project.MoveToSprint(card, id)
	}
	w.AwaitSettled()
	w.GitHub.ResetJournal()
	w.Planning.ResetJournal()
	w.Await("polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) >= polls })
	per := map[string]int{planningtest.OpBacklogItems: 1, planningtest.OpSprintList: 1, planningtest.OpSprintItems: sprints}
	seen := w.Planning.Calls(planningtest.OpBacklogItems)
	for _, c := range w.Planning.Journal() {
		if per[c.Op] == 0 {
			t.Errorf("an idle poll asked for %s", c.Op)
		}
	}
	for op, each := range per {
		if got := w.Planning.Calls(op); got < each*(seen-1) || got > each*(seen+1) { // a poll may be under way
			t.Errorf("%d polls: %d calls of %s, want %d each", seen, got, op, each)
		}
	}
	for _, c := range w.GitHub.Journal() {
		if c.Status != 304 {
			t.Errorf("while idle GitHub answered %s with %d", c.Op, c.Status)
		}
	}
}

// BenchmarkCallsPerChange prints the same numbers. The test measures calls; the time is that of the
// polls waited for.
func BenchmarkCallsPerChange(b *testing.B) {
	w, n, card := quietWorld(b)
	var toPlanning, readsToPlanning, toGitHub int
	for i := range b.N {
		github, planning := w.EditTitle(n, card, fmt.Sprintf("of GitHub %d", i))
		toPlanning += planning.Sum(bridgetest.AnyCall)
		readsToPlanning += github.Sum(bridgetest.Reads)
		github, _ = w.EditCard(n, card, fmt.Sprintf("of planning %d", i), 1)
		toGitHub += github.Sum(bridgetest.AnyCall)
	}
	each := func(calls int) float64 { return float64(calls) / float64(b.N) }
	b.ReportMetric(each(toPlanning), "planning-calls/github-edit")
	b.ReportMetric(each(readsToPlanning), "github-reads/github-edit")
	b.ReportMetric(each(toGitHub), "github-calls/planning-edit")
}
