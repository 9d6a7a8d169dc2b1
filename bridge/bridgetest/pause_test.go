//go:build faults

package bridgetest_test

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/store/redisstore/redistest"
)

const (
	shortLease = "3s"
	// underWay is how long a request takes that is under way while its process
	// is stopped: longer than the lease.
	underWay = 10 * time.Second
)

// pair is a world with two bridges on one Redis, each a process of its own.
type pair struct {
	*world
	first, second *bridgetest.Process
}

// startPair starts the first bridge of a pair. Deliveries go to the second: the dispatcher notices
// a stopped process.
func startPair(t *testing.T, redis *redistest.Server) *pair {
	t.Helper()
	w := start(t, bridgetest.Options{Idle: true, Store: redis.URL, Prefix: strings.ReplaceAll(t.Name(), "/", "-"), Settle: underWay + time.Second})
	p := &pair{world: w}
	for name, to := range map[string]**bridgetest.Process{"first": &p.first, "second": &p.second} {
		made, err := bridgetest.NewProcess(w.World, t.TempDir(), name)
		if err != nil {
			t.Fatal(err)
		}
		*to = made
		t.Cleanup(func() {
			made.Kill()
			if bad, err := bridgetest.BadLines(made.Log); err != nil && !os.IsNotExist(err) || len(bad) > 0 {
				t.Error(name, err, bad)
			}
		})
	}
	w.GitHub.AddHook(bridgetest.RepoName, "http://"+p.second.Listen+"/webhooks/github", bridgetest.WebhookSecret)
	p.run(p.first)
	return p
}

// run starts a process and waits until it takes deliveries.
func (p *pair) run(b *bridgetest.Process) {
	p.T.Helper()
	log, err := os.OpenFile(b.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.T.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // the process has its own descriptor
	b.Cmd = exec.Command(b.Binary, "--config", b.Config, "serve", "--lease", shortLease)
	b.Cmd.Env, b.Cmd.Stdout, b.Cmd.Stderr = b.Env, log, log
	if err := b.Cmd.Start(); err != nil {
		p.T.Fatal(err)
	}
	p.Await("a bridge that is ready", func() bool {
		req, err := http.NewRequestWithContext(p.T.Context(), http.MethodGet, "http://"+b.Admin+"/readyz", nil)
		if err != nil {
			return false
		}
		resp, err := bridgetest.AdminClient.Do(req)
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
}

func (p *pair) signal(b *bridgetest.Process, s syscall.Signal) {
	p.T.Helper()
	if err := b.Cmd.Process.Signal(s); err != nil {
		p.T.Fatal(err)
	}
}

// both waits until both sides show a title.
func (p *pair) both(number int, card, title string) {
	p.T.Helper()
	p.Await("both sides show "+title, func() bool {
		return p.Repo.Issue(number).Title == title && p.Project.Card(card).Title == title
	})
}

// rests waits until what is begun is done, and then lets polls pass in which
// nothing may change.
func (p *pair) rests(number int, card, title string) {
	p.T.Helper()
	writes, polls := -1, 0
	p.Await("polls without a write", func() bool {
		if n := p.Writes(); n != writes {
			writes, polls = n, p.Planning.Calls(planningtest.OpBacklogItems)
		}
		return p.Planning.Calls(planningtest.OpBacklogItems) > polls+10
	})
	polls = p.Planning.Calls(planningtest.OpBacklogItems)
	p.Await("polls", func() bool { return p.Planning.Calls(planningtest.OpBacklogItems) > polls+10 })
	if n := p.Writes() - writes; n != 0 {
		p.T.Errorf("%d writes after all had settled", n)
	}
	p.both(number, card, title)
	if issues, cards := len(p.Repo.Issues()), len(p.Project.Cards()); issues != 1 || cards != 1 {
		p.T.Errorf("%d issues, %d cards; want one of each", issues, cards)
	}
}

// TestPausedProcess: a process is stopped for longer than its lease while a write of it is under
// way. Another one takes over, and the first goes on. No old value stays, and no item is made
// twice.
func TestPausedProcess(t *testing.T) {
	redis := redistest.Start(t)
	t.Run("while it writes to GitHub", func(t *testing.T) {
		t.Parallel()
		p := startPair(t, redis)
		n, card := p.OpenIssue(githubtest.IssueSpec{Title: "One"})
		p.both(n, card, "One")
		slow := p.GitHub.Fault(githubtest.Fault{Match: "issue.patch", Kind: githubtest.Delay, After: underWay})
		p.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Two" })
		p.Await("a write under way", func() bool { return slow.Count() == 1 })
		p.signal(p.first, syscall.SIGSTOP)
		p.run(p.second)
		p.both(n, card, "Two")
		p.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Three" })
		p.both(n, card, "Three")
		p.Await("the late write", func() bool {
			return follows(p.Repo.History(n, "title"), "Three", "Two")
		})
		p.signal(p.first, syscall.SIGCONT)
		p.both(n, card, "Three")
		p.rests(n, card, "Three")
	})
	t.Run("while it writes to planning", func(t *testing.T) {
		t.Parallel()
		p := startPair(t, redis)
		n, card := p.OpenIssue(githubtest.IssueSpec{Title: "One"})
		p.both(n, card, "One")
		slow := p.Planning.Fault(planningtest.Fault{Op: planningtest.OpCardUpdate, Kind: planningtest.Delay, Delay: underWay})
		p.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Two" })
		p.Await("a write under way", func() bool { return slow.Count() == 1 })
		p.signal(p.first, syscall.SIGSTOP)
		p.run(p.second)
		p.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Three" })
		p.both(n, card, "Three")
		p.signal(p.first, syscall.SIGCONT)
		p.rests(n, card, "Three")
	})
	t.Run("while it makes a card", func(t *testing.T) {
		t.Parallel()
		p := startPair(t, redis)
		slow := p.Planning.Fault(planningtest.Fault{Op: planningtest.OpCardCreate, Kind: planningtest.Delay, Delay: underWay})
		n := p.Repo.Open("octocat", githubtest.IssueSpec{Title: "One"})
		p.Await("a create under way", func() bool { return slow.Count() == 1 })
		p.signal(p.first, syscall.SIGSTOP)
		p.run(p.second)
		p.Await("the card with its task", func() bool {
			cards := p.Project.Cards()
			return len(cards) > 0 && len(cards[0].Tasks) > 0
		})
		p.signal(p.first, syscall.SIGCONT)
		p.rests(n, p.Project.Cards()[0].ID, "One")
	})
}

// follows reports whether a value stood right after another.
func follows(values []githubtest.Value, first, then string) bool {
	for i, v := range values {
		if i > 0 && values[i-1].Value == first && v.Value == then {
			return true
		}
	}
	return false
}
