package randomtest_test

import (
	"context"
	cryptorand "crypto/rand"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/clock"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/nettest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/sim"
	"planbridge/mapping"
	"planbridge/store/memstore"
)

// One way through the small world: an issue and its card, which two people edit twice each.
// Meanwhile a replica crashes once, and one answer is lost or late.

// turnOff is a choice of a way that is not the usual one. It is the nth possible one at a place of
// the way.
type turnOff struct{ place, nth int }

// way is one run of the small world.
type way struct {
	*chaos
	offs []turnOff // in order
	// visit is told of each place behind the last of them, of what there is to choose, and
	// reports whether to go on.
	visit func(state [16]byte, place, choices int) bool

	places  int
	at      *canon
	begun   atomic.Bool // there is something to choose, until
	ended   atomic.Bool
	left    map[string][]edit
	crashes int
	faults  int // answers that may be lost or late
	restart sync.WaitGroup
	busy    atomic.Bool // a replica has something in hand, or people have something to do
	cut     bool
	over    chan struct{}
	told    map[string][]string // by replica, what it was told since it last had nothing in hand
}

// edit is what a person does.
type edit struct {
	text string
	do   func()
}

// option is one of the choices at a place.
type option struct {
	text   string // "": nothing that a person would tell
	choice sim.Choice
	act    func() // instead of a choice
}

// exploreSettle is github.settle and planning.settle of the small world.
const exploreSettle = 500 * time.Millisecond

// play goes the way to its end, and returns what is wrong there.
func (w *way) play(t *testing.T, replicas int, dir string) (wrong []complaint) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{
			memory: memstore.New(memstore.Options{Clock: clock.Runtime{}, QueueLimit: 200_000}), network: nettest.NewInProcess(),
			scheduler: sim.NewScheduler(1, nil), answers: map[string][]string{}, learned: []span{{from: time.Now()}},
		}
		cryptorand.Reader = s.scheduler
		s.scheduler.Choose = w.choose
		w.chaos, w.over, w.at = &chaos{t: t, size: lasting(0), dir: dir, sim: s, turns: &turns{}}, make(chan struct{}), newCanon()
		w.told = map[string][]string{}
		ctx, cancel := context.WithCancel(context.Background())
		var scheduling sync.WaitGroup
		scheduling.Go(func() { s.scheduler.Run(ctx) })
		defer scheduling.Wait()
		defer cancel()
		wrong = w.through(t, replicas)
	})
	return wrong
}

// through is the way from an issue and a card that agree to where they agree again.
func (w *way) through(t *testing.T, replicas int) []complaint {
	world, err := bridgetest.Start(bridgetest.Options{
		Dir: w.dir, Idle: true, Settle: exploreSettle, Poll: time.Second, CatchUp: 10 * time.Second,
		GitHub:  githubtest.Options{Seed: 1, Clock: time.Now},
		Network: &sim.Network{Network: w.sim.network, Actor: "service", Scheduler: w.sim.scheduler},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close() //nolint:errcheck // it is in memory
	key, _ := world.Env("PLANBRIDGE_MARKER_KEY")
	w.World, w.keys = world, mapping.NewKeys([]byte(key))
	w.people = newPeople(world, w.keys, false, lasting(0))
	w.sim.people, w.sim.witness.people, w.fate = w.people, w.people, &fate{w: world, diary: w.people.diary}
	defer func() {
		w.restart.Wait()
		for _, p := range w.bridges {
			p.Kill()
		}
	}()
	for n := range replicas {
		p := w.newVirtual(fmt.Sprintf("bridge%d", n+1))
		if w.bridges = append(w.bridges, p); p.Start() != nil {
			t.Fatal("a replica does not start")
		}
		w.GitHub.AddHook(bridgetest.RepoName, p.Webhooks(), bridgetest.WebhookSecret)
	}
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "title", Body: "one\ntwo"})
	time.Sleep(5 * time.Second) // of the bubble: nobody waits for it
	cards := w.Project.Cards()
	if len(cards) != 1 || len(cards[0].Tasks) != 1 {
		t.Fatalf("the issue has %d cards", len(cards))
	}
	w.begin(cards[0].ID)
	w.wait()
	w.restart.Wait()
	if w.cut = !w.ended.CompareAndSwap(false, true); w.cut {
		return nil
	}
	complaints := w.settle()
	if len(complaints) == 0 {
		complaints = w.quiet()
	}
	return slices.Concat(complaints, w.sim.witnessed(), w.invariantsBroken())
}

// invariantsBroken complains of records that broke an invariant: a replica holds each one
// against them before it stores it.
func (w *way) invariantsBroken() (all []complaint) {
	for _, p := range w.bridges {
		log, err := os.ReadFile(p.Logs())
		if err != nil {
			return []complaint{{what: err.Error()}}
		}
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, `"invariant broken"`) || strings.Contains(line, "panic") {
				all = append(all, complaint{what: line})
			}
		}
	}
	return all
}

// begin lets people, and what may go wrong, begin.
func (w *way) begin(card string) {
	hub := func(text string, change func(*githubtest.IssueEdit)) edit {
		return edit{"octocat " + text, func() { w.Repo.Edit(1, "octocat", change) }}
	}
	plan := func(text string, change func(*planningtest.CardEdit)) edit {
		return edit{"alice " + text, func() { w.Project.EditCard(card, "alice", change) }}
	}
	w.left = map[string][]edit{
		"octocat": {
			hub("names the issue o1", func(e *githubtest.IssueEdit) { e.Title = "o1" }),
			hub("adds a line o2 to the issue", func(e *githubtest.IssueEdit) { e.Body = "o2\n" + e.Body }),
		},
		"alice": {
			plan("names the card a1", func(e *planningtest.CardEdit) { e.Title = "a1" }),
			plan("adds a line a2 to the card", func(e *planningtest.CardEdit) { e.Summary = "a2\n" + e.Summary }),
		},
	}
	w.crashes, w.faults = 1, 1
	w.busy.Store(true)
	w.begun.Store(true)
}

// wait waits until the people are done and nothing was written for a while, or the way is cut.
func (w *way) wait() {
	writes, since := -1, time.Now()
	for time.Since(since) < 3*time.Second {
		select {
		case <-w.over:
			return
		case <-time.After(100 * time.Millisecond):
		}
		if n := w.Writes(); n != writes || w.busy.Load() {
			writes, since = n, time.Now()
		}
	}
}

// choose is what the scheduler asks. The usual way is the first option.
func (w *way) choose(ready []sim.Ready) sim.Choice {
	if !w.begun.Load() || w.ended.Load() {
		if len(ready) == 0 {
			return sim.Pass
		}
		return sim.Choice{}
	}
	w.hear(ready)
	all := w.options(ready)
	nth := 0
	if len(all) > 1 {
		nth = w.turn(ready, len(all))
	}
	if w.ended.Load() {
		return w.choose(ready)
	}
	one := all[nth]
	if one.text != "" {
		w.people.did(nil, "%s", one.text)
	}
	if one.act != nil {
		one.act()
		return sim.Again
	}
	return w.takes(ready, one.choice)
}

// turn is which of the options of a place the way takes.
func (w *way) turn(ready []sim.Ready, choices int) int {
	place := w.places
	w.places++
	last := -1
	if len(w.offs) > 0 {
		last = w.offs[len(w.offs)-1].place
	}
	for _, off := range w.offs {
		if off.place == place {
			return off.nth
		}
	}
	if place > last && !w.visit(w.hash(ready), place, choices) && w.ended.CompareAndSwap(false, true) {
		close(w.over)
	}
	return 0
}

// options are what may happen next; the usual first.
func (w *way) options(ready []sim.Ready) (all []option) {
	for n, one := range ready {
		all = append(all, option{choice: sim.Choice{Step: n}})
		if lossy := strings.HasPrefix(one.What, sim.AnswerTo) && strings.HasPrefix(one.Actor, "bridge"); lossy && w.faults > 0 {
			text := one.Actor + " does not get the " + one.What
			all = append(all, option{text: text, choice: sim.Choice{Step: n, Lose: true}})
		}
	}
	for _, who := range []string{"octocat", "alice"} {
		if edits := w.left[who]; len(edits) > 0 {
			all = append(all, option{text: edits[0].text, act: func() { w.left[who] = edits[1:]; edits[0].do() }})
		}
	}
	late := ""
	if len(ready) > 0 {
		late = "all that waits is late"
	}
	if len(ready) == 0 || w.faults > 0 {
		all = append(all, option{text: late, choice: sim.Pass})
	}
	if w.crashes > 0 {
		all = append(all, option{text: "bridge1 crashes", act: w.crash})
	}
	return all
}

// takes takes in what an option does.
func (w *way) takes(ready []sim.Ready, c sim.Choice) sim.Choice {
	if c == sim.Pass {
		if len(ready) > 0 {
			w.faults--
		}
		return c
	}
	if c.Lose {
		w.faults--
	}
	if one := ready[c.Step]; strings.HasPrefix(one.Actor, "bridge") {
		text := fmt.Sprintf("%s %s %t", one.What, one.Given, c.Lose)
		at, _ := slices.BinarySearch(w.told[one.Actor], text)
		w.told[one.Actor] = slices.Insert(w.told[one.Actor], at, text)
	}
	return c
}

// hear forgets what a replica was told that has nothing in hand.
func (w *way) hear(ready []sim.Ready) {
	asks := map[string]bool{}
	for _, one := range ready {
		asks[one.Actor] = true
	}
	busy := len(w.left["octocat"])+len(w.left["alice"]) > 0
	for _, p := range w.bridges {
		v := p.(*virtual)
		has := v.app == nil || v.app.InHand() > 0
		if !has && !asks[v.name] {
			delete(w.told, v.name)
		}
		busy = busy || has
	}
	w.busy.Store(busy)
}

// crash ends the first replica, and begins it anew.
func (w *way) crash() {
	w.crashes--
	p := w.bridges[0].(*virtual)
	p.store.Crash()
	p.network.Crash()
	w.restart.Go(func() {
		p.Kill()
		if err := p.Start(); err != nil {
			w.sim.witness.noteWrong("a replica does not start again: %v", err)
		}
	})
}
