package bridgetest_test

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/store/redisstore/redistest"
)

// wellBefore is well before the lease of a minute ends, and long after the session of a
// killed process has fallen.
const wellBefore = 40 * time.Second

// On Redis no lock proves that who leased the keys is dead: its session falls.
func TestKeysOfAKilledReplicaAreWorkedSoon(t *testing.T) {
	t.Parallel()
	t.Run("by another one", func(t *testing.T) {
		t.Parallel()
		k := killAtWork(t, bridgetest.Options{Store: redistest.Start(t).URL}, func(w *world) { beginProcess(w, w.process("second")) })
		k.worked(k.at, wellBefore)
	})
	t.Run("by its successor", func(t *testing.T) {
		t.Parallel()
		k := killAtWork(t, bridgetest.Options{Store: redistest.Start(t).URL}, func(*world) {})
		beginProcess(k.world, k.first)
		k.worked(k.at, wellBefore)
	})
}

func signal(t *testing.T, p *bridgetest.Process, s syscall.Signal) {
	t.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// sessions is how many sessions a process has begun, as it logged.
func sessions(t *testing.T, p *bridgetest.Process) int {
	t.Helper()
	log, err := os.ReadFile(p.Log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), "session begun")
}

// A process is stopped for longer than its session, while one write of it is under way and
// another waits for that one's end. Another process works both keys meanwhile. When the
// first goes on it writes nothing before it has claimed anew.
func TestAStoppedReplicaWritesNothingAfterItsSession(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{Store: redistest.Start(t).URL, Idle: true})
	first, second := w.process("first"), w.process("second")
	w.GitHub.AddHook(bridgetest.RepoName, "http://"+second.Listen+"/webhooks/github", bridgetest.WebhookSecret)
	beginProcess(w, first)
	beginProcess(w, second) // takes deliveries
	a, cardA := w.OpenIssue(githubtest.IssueSpec{Title: "A1"})
	b, cardB := w.OpenIssue(githubtest.IssueSpec{Title: "B1"})
	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}
	w.Await("all is done", func() bool {
		o, err := first.Queues(t.Context())
		return err == nil && len(o.Projects) == 1 && o.Projects[0].Live+o.Projects[0].Bulk == 0 && len(w.Repo.Issue(a).Labels) == 2 && len(w.Repo.Issue(b).Labels) == 2
	})

	slow := w.GitHub.Fault(githubtest.Fault{Match: "issue.patch", Kind: githubtest.Delay})
	defer slow.Release()
	w.Project.EditCard(cardA, "alice", func(e *planningtest.CardEdit) { e.Title = "A2" })
	w.Await("a write under way", func() bool { return slow.Count() == 1 })
	reads := w.GitHub.Calls("issue.get")
	w.Project.EditCard(cardB, "alice", func(e *planningtest.CardEdit) { e.Title = "B2" })
	w.Await("a write that waits", func() bool { return w.GitHub.Calls("issue.get") > reads })
	w.polls(3)
	signal(t, first, syscall.SIGSTOP)
	beginProcess(w, second)
	w.Await("both titles by the other one", func() bool {
		return w.Repo.Issue(a).Title == "A2" && w.Repo.Issue(b).Title == "B2"
	})
	w.Repo.Edit(b, "octocat", func(e *githubtest.IssueEdit) { e.Title = "B3" })
	w.Await("the next title", func() bool { return w.Project.Card(cardB).Title == "B3" })
	w.polls(5)
	patches := w.GitHub.Calls("issue.patch")
	slow.Release() // the write of the first has its effect, which changes nothing
	w.Await("the late write", func() bool { return w.GitHub.Calls("issue.patch") > patches })
	w.polls(5)
	patches, begun := w.GitHub.Calls("issue.patch"), sessions(t, first)
	signal(t, first, syscall.SIGCONT)
	w.Await("another session", func() bool { return sessions(t, first) > begun })
	w.polls(10)
	if n := w.GitHub.Calls("issue.patch") - patches; n != 0 {
		t.Errorf("%d writes to GitHub after the session, want none", n)
	}
	second.Kill()
	w.Project.EditCard(cardB, "alice", func(e *planningtest.CardEdit) { e.Title = "B4" })
	w.Await("the first works again", func() bool { return w.Repo.Issue(b).Title == "B4" })
	var titles []string
	for _, v := range w.Repo.History(b, "title") {
		titles = append(titles, v.Value)
	}
	if want := []string{"B1", "B2", "B3", "B4"}; !slices.Equal(titles, want) {
		t.Errorf("titles %q, want %q", titles, want)
	}
}
