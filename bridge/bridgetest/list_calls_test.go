package bridgetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// listWorld is a quiet world in which the items of an issue's checklist are tasks.
func listWorld(t testing.TB, items int) (w *world, n int, card string) {
	w = start(t, bridgetest.Options{Route: "tasks: checklist", Settle: bridgetest.EchoesWithin, Config: func(yaml string) string {
		return strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: 1h", 1)
	}})
	body := "Words.\n\n"
	for i := range items {
		body += fmt.Sprintf("- [ ] item number %d\n", i)
	}
	n = w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Title", Body: body})
	w.Await("the tasks", func() bool {
		cards := w.Project.Cards()
		return len(cards) == 1 && len(cards[0].Tasks) == items+1
	})
	card = w.Project.Cards()[0].ID
	w.AwaitSettled()
	return w, n, card
}

// ticked is how many items of the issue are ticked.
func (w *world) ticked(n int) (ticked int) {
	for _, item := range mapping.Items(w.Repo.Issue(n).Body) {
		if item.Checked {
			ticked++
		}
	}
	return ticked
}

// done is how many tasks of the card are done.
func (w *world) done(card string) (done int) {
	for _, t := range w.Project.Tasks(card) {
		if t.State == mapping.StateDone {
			done++
		}
	}
	return done
}

// tickOne clicks the box of an item and counts the calls that it takes.
func (w *world) tickOne(n int, card string, item int) (github, planning bridgetest.Calls) {
	body := w.Repo.Issue(n).Body
	items := mapping.Items(body)
	items[item].Checked = true
	before := w.done(card)
	return w.Spent(
		func() {
			w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = mapping.SetItems(body, items) })
		},
		func() bool { return w.done(card) == before+1 })
}

// doneAll finishes all tasks of a card but the tracking one, and counts.
func (w *world) doneAll(n int, card string) (github, planning bridgetest.Calls) {
	tasks := w.Project.Tasks(card)[1:]
	return w.Spent(
		func() {
			defer w.Hold()()
			for _, t := range tasks {
				w.Project.EditTask(t.ID, "alice", func(e *planningtest.TaskEdit) { e.State = mapping.StateDone })
			}
		},
		func() bool { return w.ticked(n) == len(tasks) })
}

// TestCallsOfChecklists: the items of a new issue become tasks in one request. A tick costs one
// planning call and no read. A burst of done tasks costs one read of them, and one read and one
// write of the issue.
func TestCallsOfChecklists(t *testing.T) {
	t.Parallel()
	w, n, card := listWorld(t, 8)
	if got := w.Planning.Calls(planningtest.OpTaskCreate); got != 2 {
		t.Errorf("8 items took %d requests with the tracking task's", got)
	}
	w.tickOne(n, card, 0) // the first one shows on the issue: the card is in progress now
	github, planning := w.tickOne(n, card, 3)
	if planning[planningtest.OpTaskUpdate] != 1 || planning.Sum(bridgetest.AnyCall) != 1 || github.Sum(bridgetest.Reads) != 0 {
		t.Errorf("a tick took %v of planning and %v of GitHub", planning, github)
	}
	github, planning = w.doneAll(n, card)
	if planning.Sum(bridgetest.AnyCall) > 1 || github["issue.patch"] > 1 || github["issue.get"] > 1 {
		t.Errorf("a burst in planning took %v of planning and %v of GitHub", planning, github)
	}
}

// TestCallsOfIdleChecklists: tasks that nobody touches are not read.
func TestCallsOfIdleChecklists(t *testing.T) {
	t.Parallel()
	w, _, _ := listWorld(t, 3)
	w.GitHub.ResetJournal()
	w.Planning.ResetJournal()
	w.Await("polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) >= 10 })
	if github, planning := w.Counted(); len(github)+len(planning) > 0 {
		t.Errorf("idle polls took %v of planning and %v of GitHub", planning, github)
	}
}

// BenchmarkCallsOfChecklists prints what a tick costs, and a burst of them.
func BenchmarkCallsOfChecklists(b *testing.B) {
	var tick, burstPlanning, burstGitHub int
	for range b.N {
		w, n, card := listWorld(b, 8)
		w.tickOne(n, card, 0) // the first one shows on the issue as a label
		_, planning := w.tickOne(n, card, 3)
		tick += planning.Sum(bridgetest.AnyCall)
		github, planning := w.doneAll(n, card)
		burstPlanning, burstGitHub = burstPlanning+planning.Sum(bridgetest.AnyCall), burstGitHub+github.Sum(bridgetest.AnyCall)
	}
	each := func(calls int) float64 { return float64(calls) / float64(b.N) }
	b.ReportMetric(each(tick), "planning-calls/tick")
	b.ReportMetric(each(burstPlanning), "planning-calls/burst")
	b.ReportMetric(each(burstGitHub), "github-calls/burst")
}

// BenchmarkCallsPerPoll prints the cost of an idle poll with tasks on. The sweep reads the tasks of
// each linked card once in its interval, spread over the polls.
func BenchmarkCallsPerPoll(b *testing.B) {
	for _, sweep := range []string{"2s", "1h"} {
		b.Run("sweep="+sweep, func(b *testing.B) {
			w := start(b, bridgetest.Options{Route: "tasks: checklist", Config: func(yaml string) string {
				return strings.Replace(yaml, "task_sweep_interval: 2s", "task_sweep_interval: "+sweep, 1)
			}})
			for i := range 10 {
				w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Title ", i), Body: "- [ ] item"})
			}
			w.Await("the tasks", func() bool {
				cards := w.Project.Cards()
				return len(cards) == 10 && !slices.ContainsFunc(cards, func(c planningtest.CardState) bool { return len(c.Tasks) != 2 })
			})
			w.AwaitSettled()
			w.Planning.ResetJournal()
			polls := max(10, b.N)
			w.Await("polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) >= polls })
			b.ReportMetric(float64(len(w.Planning.Journal()))/float64(polls), "planning-calls/poll")
		})
	}
}

// TestManyItems: a long checklist, ticked all over, is no runaway.
func TestManyItems(t *testing.T) {
	t.Parallel()
	w, n, card := listWorld(t, 40)
	body := w.Repo.Issue(n).Body
	items := mapping.Items(body)
	for i := range items {
		items[i].Checked = true
	}
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Body = mapping.SetItems(body, items) })
	w.Await("all done", func() bool { return w.done(card) == len(items) })
	w.AwaitSettled()
	if failed, err := w.App.Operator().Failures(t.Context()); err != nil || len(failed) > 0 {
		t.Errorf("failures %v, %v", failed, err)
	}
}
