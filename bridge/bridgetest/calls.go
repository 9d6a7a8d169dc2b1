package bridgetest

import (
	"fmt"
	"slices"
	"time"

	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// polling are the operations of polls and of GitHub's catch-up, which go on without changes.
var polling = []string{planningtest.OpBacklogItems, planningtest.OpSprintList, planningtest.OpSprintItems, "issues.list", "repo.get"}

// Calls has the number of calls of each operation.
type Calls map[string]int

// Sum is the number of calls of those operations.
func (c Calls) Sum(which func(op string) bool) (n int) {
	for op, count := range c {
		if which(op) {
			n += count
		}
	}
	return n
}

// Writes reports whether an operation of GitHub changes something.
func Writes(op string) bool {
	return slices.Contains([]string{"issue.patch", "labels.add", "label.remove", "comment.create", "issue.create"}, op)
}

// Reads reports whether an operation of GitHub changes nothing.
func Reads(op string) bool { return !Writes(op) }

// AnyCall is true of each operation.
func AnyCall(string) bool { return true }

// EchoesWithin is a settle time in which the echoes of our writes come on the slowest machine. The
// bridge searches for later ones, with a read.
const EchoesWithin = time.Minute

// Spent calls act, waits until all has settled, and counts the calls to both services beyond the
// polls.
func (w *TestWorld) Spent(act func(), done func() bool) (github, planning Calls) {
	w.T.Helper()
	w.GitHub.Advance(2 * time.Second) // GitHub's times have whole seconds
	w.GitHub.ResetJournal()
	w.Planning.ResetJournal()
	act()
	w.Await("the change on the other side", done)
	w.AwaitSettled()
	return w.Counted()
}

// Counted has the calls of both services since their journals began, beyond the polls.
func (w *TestWorld) Counted() (github, planning Calls) {
	github, planning = Calls{}, Calls{}
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

// EditTitle gives an issue another title, and counts the calls.
func (w *TestWorld) EditTitle(n int, card, title string) (github, planning Calls) {
	w.T.Helper()
	return w.Spent(
		func() { w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = title }) },
		func() bool { return w.Project.Card(card).Title == title })
}

// EditCard gives a card another title and estimate, and counts the calls.
func (w *TestWorld) EditCard(n int, card, title string, points float64) (github, planning Calls) {
	w.T.Helper()
	label := fmt.Sprintf("points/%g", points)
	return w.Spent(
		func() {
			w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title, e.Estimate = title, &points })
		},
		func() bool {
			i := w.Repo.Issue(n)
			return i.Title == title && slices.Equal(slices.DeleteFunc(i.Labels, IsShown), []string{label})
		})
}
