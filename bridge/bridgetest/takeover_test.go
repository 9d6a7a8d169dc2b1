package bridgetest_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// killed is a world in which a process was killed while it wrote many titles to
// planning. Its keys are leased for a minute, as in production.
type killed struct {
	*world
	first *bridgetest.Process
	cards map[string]string // card: the title that it must get
	late  *planningtest.ActiveFault
	at    time.Time
}

// inHand is how many keys the process has in hand when it is killed.
const inHand = 6

// killAtWork starts a process, has it make cards, and kills it when its writes of new
// titles are under way. Before the kill it calls ready.
func killAtWork(t *testing.T, o bridgetest.Options, ready func(*world)) *killed {
	o.Idle = true
	k := &killed{world: start(t, o), cards: map[string]string{}}
	k.first = k.process("first")
	k.GitHub.AddHook(bridgetest.RepoName, "http://"+k.first.Listen+"/webhooks/github", bridgetest.WebhookSecret)
	beginProcess(k.world, k.first)
	numbers := map[int]string{}
	for i := range inHand {
		n, card := k.OpenIssue(githubtest.IssueSpec{Title: fmt.Sprint("Old ", i)})
		numbers[n], k.cards[card] = card, fmt.Sprint("New ", i)
	}
	k.Await("all is done", func() bool {
		o, err := k.first.Queues(t.Context())
		return err == nil && len(o.Projects) == 1 && o.Projects[0].Live+o.Projects[0].Bulk == 0
	})
	k.late = k.Planning.Fault(planningtest.Fault{Op: planningtest.OpCardUpdate, Kind: planningtest.Delay, Times: inHand})
	for n, card := range numbers {
		k.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = k.cards[card] })
	}
	k.Await("the writes under way", func() bool { return k.late.Count() == inHand })
	ready(k.world)
	k.first.Kill()
	k.at = time.Now()
	return k
}

// lastWords is how much of a process's log a failed test prints.
const lastWords = 32 << 10

// process prepares a process that leases keys for a minute.
func (w *world) process(name string) *bridgetest.Process {
	w.T.Helper()
	p, err := bridgetest.NewProcess(w.World, w.T.TempDir(), name)
	if err != nil {
		w.T.Fatal(err)
	}
	p.Lease = "1m"
	w.T.Cleanup(func() {
		p.Kill()
		if bad, err := bridgetest.BadLines(p.Log); err == nil && len(bad) > 0 {
			w.T.Error(name, bad)
		}
		if log, err := os.ReadFile(p.Log); err == nil && w.T.Failed() {
			w.T.Logf("the last of what %s said:\n%s", name, log[max(0, len(log)-lastWords):])
		}
	})
	return p
}

// beginProcess starts a process and waits until it takes deliveries.
func beginProcess(w *world, p *bridgetest.Process) {
	w.T.Helper()
	if err := p.Start(); err != nil {
		w.T.Fatal(err)
	}
	w.Await("a bridge that is ready", func() bool {
		return p.Ask(w.T.Context(), http.MethodGet, "/readyz", nil, nil) == nil
	})
}

// worked waits until all cards have their titles and demands that this took no longer than most
// since then. Requests under way when the process was killed come late, and change nothing.
func (k *killed) worked(since time.Time, most time.Duration) {
	k.T.Helper()
	titled := func() bool {
		for card, title := range k.cards {
			if k.Project.Card(card).Title != title {
				return false
			}
		}
		return true
	}
	k.Await("the titles", titled)
	took := time.Since(since)
	k.T.Logf("worked after %v", took)
	if took > most {
		k.T.Errorf("the keys of the killed process were worked after %v, want %v at most", took, most)
	}
	k.late.Release()
	polls := k.Planning.Calls(planningtest.OpBacklogItems)
	k.Await("polls", func() bool { return k.Planning.Calls(planningtest.OpBacklogItems) > polls+5 })
	if !titled() || len(k.Project.Cards()) != inHand || len(k.Repo.Issues()) != inHand {
		k.T.Errorf("cards %+v, issues %+v", k.Project.Cards(), k.Repo.Issues())
	}
}

// The lock of the file proves that who leased the keys is dead.
func TestMeasuredKeysOfAKilledProcessAreWorkedAtOnce(t *testing.T) {
	k := killAtWork(t, bridgetest.Options{}, func(*world) {})
	beginProcess(k.world, k.first)
	k.worked(time.Now(), 2*time.Second)
}
