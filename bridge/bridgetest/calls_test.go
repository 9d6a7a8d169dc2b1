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

// polling are the operations of polls and of GitHub's catch-up, which go on
// whether anything changes or not.
var polling = []string{planningtest.OpBacklogItems, planningtest.OpSprintList, planningtest.OpSprintItems, "issues.list", "repo.get"}

// calls is how often each operation was asked for.
type calls map[string]int

func (c calls) sum(which func(op string) bool) (n int) {
	for op, count := range c {
		if which(op) {
			n += count
		}
	}
	return n
}

// writes is whether an operation of GitHub changes something.
func writes(op string) bool {
	return slices.Contains([]string{"issue.patch", "labels.add", "label.remove", "comment.create", "issue.create"}, op)
}

func reads(op string) bool { return !writes(op) }

func all(string) bool { return true }

// echoed is a settle in which the echoes of our writes come on the slowest
// machine: those that do not are looked for, with a read.
const echoed = time.Minute

// quietWorld is a world without the sweep of tasks and without catch-ups in the
// midst of our writes, and a linked issue.
func quietWorld(t testing.TB) (w *world, n int, card string) {
	w = start(t, bridgetest.Options{CatchUp: time.Hour, Settle: echoed, Config: func(yaml string) string {
		return strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: 1h", 1)
	}})
	n, card = w.open(githubtest.IssueSpec{Title: "Title", Body: "Body", Labels: []string{"points/1"}})
	w.settled()
	return w, n, card
}

// spent does something, waits until all has settled, and counts the calls to
// both services beyond the polls.
func (w *world) spent(act func(), done func() bool) (github, planning calls) {
	w.t.Helper()
	w.GitHub.Advance(2 * time.Second) // GitHub's times have whole seconds
	w.GitHub.ResetJournal()
	w.Planning.ResetJournal()
	act()
	w.until("the change on the other side", done)
	w.settled()
	return w.counted()
}

func (w *world) counted() (github, planning calls) {
	github, planning = calls{}, calls{}
	for _, c := range w.GitHub.Journal() {
		if !slices.Contains(polling, c.Op) {
			github[c.Op]++
		}
	}
	for _, c := range w.Planning.Journal() {
		if !slices.Contains(polling, c.Op) {
			planning[c.Op]++
		}
	}
	return github, planning
}

func (w *world) editTitle(n int, card, title string) (github, planning calls) {
	w.t.Helper()
	return w.spent(
		func() { w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = title }) },
		func() bool { return w.Project.Card(card).Title == title })
}

func (w *world) editCard(n int, card, title string, points float64) (github, planning calls) {
	w.t.Helper()
	label := fmt.Sprintf("points/%g", points)
	return w.spent(
		func() {
			w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title, e.Estimate = title, &points })
		},
		func() bool {
			i := w.Repo.Issue(n)
			return i.Title == title && slices.Equal(slices.DeleteFunc(i.Labels, isShown), []string{label})
		})
}

// TestCallsPerChange holds the numbers of docs/performance.md: a GitHub edit costs one
// planning call and no read; a planning edit one read and one write on GitHub,
// and one more for each label that changes.
func TestCallsPerChange(t *testing.T) {
	t.Parallel()
	w, n, card := quietWorld(t)
	for i := range 3 {
		github, planning := w.editTitle(n, card, fmt.Sprintf("of GitHub %d", i))
		if planning.sum(all) != 1 || github.sum(all) != 0 {
			t.Errorf("a GitHub edit took %v of planning and %v of GitHub", planning, github)
		}
	}
	for i := range 3 {
		github, planning := w.editCard(n, card, fmt.Sprintf("of planning %d", i), 1)
		if planning.sum(all) != 0 || github["issue.get"] != 1 || github["issue.patch"] != 1 || github.sum(all) != 2 {
			t.Errorf("a planning edit took %v of planning and %v of GitHub", planning, github)
		}
	}
	github, planning := w.editCard(n, card, "and an estimate", 2)
	if planning.sum(all) != 0 || github.sum(reads) != 1 || github.sum(writes) != 3 {
		t.Errorf("a planning edit with two labels took %v of planning and %v of GitHub", planning, github)
	}
}

// TestCallsOfLabels holds the read of a planning edit to one where labels say
// it on GitHub, too: what GitHub tells of our own steps is nothing new, in
// whatever order it comes.
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

// labelCalls changes what labels say in planning, and looks at the end state
// and at what GitHub was asked for. hold and deliver are called around each
// change's arrival on GitHub.
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
		github, _ := w.spent(func() { hold(w); act() }, func() bool {
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
	w.settled()
	w.GitHub.ResetJournal()
	w.Planning.ResetJournal()
	w.until("polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) >= polls })
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

// BenchmarkCallsPerChange prints the same numbers. What is measured is calls;
// the time is that of the polls waited for.
func BenchmarkCallsPerChange(b *testing.B) {
	w, n, card := quietWorld(b)
	var toPlanning, readsToPlanning, toGitHub int
	for i := range b.N {
		github, planning := w.editTitle(n, card, fmt.Sprintf("of GitHub %d", i))
		toPlanning += planning.sum(all)
		readsToPlanning += github.sum(reads)
		github, _ = w.editCard(n, card, fmt.Sprintf("of planning %d", i), 1)
		toGitHub += github.sum(all)
	}
	each := func(calls int) float64 { return float64(calls) / float64(b.N) }
	b.ReportMetric(each(toPlanning), "planning-calls/github-edit")
	b.ReportMetric(each(readsToPlanning), "github-reads/github-edit")
	b.ReportMetric(each(toGitHub), "github-calls/planning-edit")
}
