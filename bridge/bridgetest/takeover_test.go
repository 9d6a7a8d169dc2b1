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
	first *process
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
	k.GitHub.AddHook(bridgetest.RepoName, "http://"+k.first.listen+"/webhooks/github", bridgetest.WebhookSecret)
	k.first.begin(k.world)
	numbers := map[int]string{}
	for i := range inHand {
		n, card := k.open(githubtest.IssueSpec{Title: fmt.Sprint("Old ", i)})
		numbers[n], k.cards[card] = card, fmt.Sprint("New ", i)
	}
	k.until("all is done", func() bool {
		o, err := k.first.queues(t.Context())
		return err == nil && len(o.Projects) == 1 && o.Projects[0].Live == 0
	})
	k.late = k.Planning.Fault(planningtest.Fault{Op: planningtest.OpCardUpdate, Kind: planningtest.Delay, Times: inHand})
	for n, card := range numbers {
		k.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = k.cards[card] })
	}
	k.until("the writes under way", func() bool { return k.late.Count() == inHand })
	ready(k.world)
	k.first.kill()
	k.at = time.Now()
	return k
}

// lastWords is how much of a process's log a failed test prints.
const lastWords = 32 << 10

// process prepares a process that leases keys for a minute.
func (w *world) process(name string) *process {
	w.t.Helper()
	p, err := newProcess(w.World, w.t.TempDir(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	p.lease = "1m"
	w.t.Cleanup(func() {
		p.kill()
		if bad, err := badLines(p.log); err == nil && len(bad) > 0 {
			w.t.Error(name, bad)
		}
		if log, err := os.ReadFile(p.log); err == nil && w.t.Failed() {
			w.t.Logf("the last of what %s said:\n%s", name, log[max(0, len(log)-lastWords):])
		}
	})
	return p
}

// begin starts a process and waits until it takes deliveries.
func (p *process) begin(w *world) {
	w.t.Helper()
	if err := p.start(); err != nil {
		w.t.Fatal(err)
	}
	w.until("a bridge that is ready", func() bool {
		return p.ask(w.t.Context(), http.MethodGet, "/readyz", nil, nil) == nil
	})
}

// worked waits until all cards have their titles and demands that this took no longer
// than most since then. What was under way when the process was killed comes late, and
// changes nothing.
func (k *killed) worked(since time.Time, most time.Duration) {
	k.t.Helper()
	titled := func() bool {
		for card, title := range k.cards {
			if k.Project.Card(card).Title != title {
				return false
			}
		}
		return true
	}
	k.until("the titles", titled)
	took := time.Since(since)
	k.t.Logf("worked after %v", took)
	if took > most {
		k.t.Errorf("the keys of the killed process were worked after %v, want %v at most", took, most)
	}
	k.late.Release()
	polls := k.Planning.Calls(planningtest.OpBacklogItems)
	k.until("polls", func() bool { return k.Planning.Calls(planningtest.OpBacklogItems) > polls+5 })
	if !titled() || len(k.Project.Cards()) != inHand || len(k.Repo.Issues()) != inHand {
		k.t.Errorf("cards %+v, issues %+v", k.Project.Cards(), k.Repo.Issues())
	}
}

// The lock of the file proves that who leased the keys is dead.
func TestMeasuredKeysOfAKilledProcessAreWorkedAtOnce(t *testing.T) {
	k := killAtWork(t, bridgetest.Options{}, func(*world) {})
	k.first.begin(k.world)
	k.worked(time.Now(), 2*time.Second)
}
