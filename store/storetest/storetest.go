// Package storetest is the conformance suite of planbridge's store. It holds every sentence of
// package store's contract that a test can hold. Its entry point is [Run].
//
// All back ends run it, so that the bridge can rely on the same contract with a file and with a
// production Redis. Time moves by [Opened].Advance, in minutes. The suite assumes that less than
// half a minute passes on real clocks beside that.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// Opened is an empty store under test, with the operations on its surroundings.
type Opened struct {
	Store store.Store
	// Advance moves the store's clock, for every handle.
	Advance func(time.Duration)
	// Restart ends all running parts as hard as possible and starts them again on the same data. It
	// returns the new handle.
	Restart func(t testing.TB) store.Store
	// Alone says that one process at a time has the store. After Restart it is another one, and all
	// earlier leases have ended.
	Alone bool
	// Second opens another handle on the same data, as another replica does; nil where only one
	// process can.
	Second func(t testing.TB) store.Store
	// Lose empties the store under its handles; nil where that cannot happen.
	Lose func(t testing.TB)
	// Fill leaves the store no room for a write of [FillLeaves] bytes, until the returned function
	// is called; nil where that cannot happen.
	Fill func(t testing.TB) (room func())
}

// Clock is the [store.Clock] of a function.
type Clock func() time.Time

// Now implements [store.Clock].
func (c Clock) Now() time.Time { return c() }

// StillClock is a [store.Clock] that stands still unless it is advanced.
type StillClock struct{ ns atomic.Int64 }

// NewStillClock makes a StillClock, which shows the same time in each test.
func NewStillClock() *StillClock {
	c := &StillClock{}
	c.ns.Store(time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

// Now implements [store.Clock].
func (c *StillClock) Now() time.Time { return time.Unix(0, c.ns.Load()) }

// Advance moves the clock on.
func (c *StillClock) Advance(d time.Duration) { c.ns.Add(int64(d)) }

// Open opens a new empty store for one test and registers its end. queueLimit bounds the queue of a
// project; 0: no bound.
type Open func(t *testing.T, queueLimit int) Opened

// Run runs the suite against a back end.
func Run(t *testing.T, open Open) {
	for name, group := range map[string]map[string]func(*fixture){
		"Links": linkTests, "Traits": traitTests, "Tally": tallyTests, "Observe": observeTests, "Claim": claimTests, "Finish": finishTests,
		"Wait": waitTests, "Bounds": boundTests, "Side": sideTests, "Budget": budgetTests, "Concurrent": concurrentTests, "Standing": standingTests,
	} {
		t.Run(name, func(t *testing.T) {
			o := open(t, 0)
			for name, test := range group {
				t.Run(name, func(t *testing.T) { test(newFixture(t, o)) })
			}
		})
	}
	t.Run("Full", func(t *testing.T) { testFull(newFixture(t, open(t, 3))) })
	t.Run("Restart", func(t *testing.T) { testRestart(newFixture(t, open(t, 0))) })
	t.Run("Epoch", func(t *testing.T) { testEpoch(newFixture(t, open(t, 0))) })
	t.Run("Dump", func(t *testing.T) { testDump(t, open) })
	t.Run("Sessions", func(t *testing.T) { runSessions(t, open) })
	t.Run("Model", func(t *testing.T) { testModel(t, open(t, 0)) })
	if o := open(t, 0); o.Second != nil {
		t.Run("Replicas", func(t *testing.T) { testReplicas(newFixture(t, o)) })
	}
	if o := open(t, 0); o.Lose != nil {
		t.Run("Lost", func(t *testing.T) { testLost(newFixture(t, o)) })
	}
	if o := open(t, 0); o.Fill != nil {
		t.Run("NoRoom", func(t *testing.T) { testNoRoom(newFixture(t, o)) })
	}
}

// fixture is one test's view: a store, and a project of its own in it.
type fixture struct {
	*testing.T
	store.Store
	Opened  Opened
	ctx     context.Context
	project mapping.ObjectID
	links   int
}

const ttl = 10 * time.Minute

func newFixture(t *testing.T, o Opened) *fixture {
	return &fixture{T: t, Store: o.Store, Opened: o, ctx: t.Context(), project: mapping.ObjectID(mapping.NewID())}
}

// newLink makes a link of an issue that nothing else in the test has. Links
// made later have higher ids.
func (f *fixture) newLink() *mapping.Link {
	f.links++
	return &mapping.Link{
		ID: mapping.LinkID(fmt.Sprintf("%08d%s", f.links, mapping.NewID()[:8])), Project: f.project,
		Route: "web", Pair: mapping.Pair{
			State: mapping.Entering, Origin: mapping.GitHub, Nonce: mapping.NewNonce(),
			Issue: mapping.IssueID{ID: int64(1000 + f.links), Repo: "acme/web", Number: f.links},
		},
	}
}

func (f *fixture) key(l *mapping.Link) store.Key { return store.Key{Project: f.project, Link: l.ID} }

// creating is the observation that makes l.
func creating(l *mapping.Link) store.Observation {
	return store.Observation{Refs: l.Refs(), Create: l}
}

// showing is an observation of l's issue.
func showing(l *mapping.Link, at int64, digest string) store.Observation {
	ref := mapping.IssueRef(l.Issue.ID)
	return store.Observation{Refs: []mapping.Ref{ref}, Item: ref, At: at, Digest: digest, Data: []byte("data of " + digest)}
}

// observe stores observations and demands that each was taken.
func (f *fixture) observe(obs ...store.Observation) []store.Observed {
	f.Helper()
	seen, err := f.Observe(f.ctx, f.project, obs)
	if err != nil {
		f.Fatalf("Observe: %v", err)
	}
	if len(seen) != len(obs) {
		f.Fatalf("Observe of %d gave %d results", len(obs), len(seen))
	}
	for i := range seen {
		if seen[i].Err != nil {
			f.Fatalf("Observe: result %d: %v", i, seen[i].Err)
		}
	}
	return seen
}

// made returns a new link that stands in the store and in no queue.
func (f *fixture) made() *mapping.Link {
	f.Helper()
	l := f.newLink()
	f.observe(creating(l))
	c, err := f.ClaimKey(f.ctx, f.key(l), ttl)
	if err != nil {
		f.Fatalf("ClaimKey: %v", err)
	}
	f.finish(c, store.Outcome{})
	return l
}

// claim claims the next key and demands that it is want's.
func (f *fixture) claim(want *mapping.Link) *store.Claim {
	f.Helper()
	c, _, err := f.Claim(f.ctx, f.project, ttl)
	if err != nil {
		f.Fatalf("Claim: %v", err)
	}
	if c == nil {
		f.Fatalf("Claim found nothing due, want %s", want.ID)
	}
	if c.Key != f.key(want) {
		f.Fatalf("Claim = %s, want %s", c.Key, want.ID)
	}
	return c
}

// nothingDue demands that no key can be claimed, and returns in how many
// minutes the store says that one can.
func (f *fixture) nothingDue() int {
	f.Helper()
	c, wait, err := f.Claim(f.ctx, f.project, ttl)
	if err != nil || c != nil {
		f.Fatalf("Claim = %+v, %v, want none", c, err)
	}
	return minutes(wait)
}

func minutes(d time.Duration) int { return int(d.Round(time.Minute) / time.Minute) }

func (f *fixture) finish(c *store.Claim, out store.Outcome) {
	f.Helper()
	if err := f.Finish(f.ctx, c, nil, nil, out); err != nil {
		f.Fatalf("Finish: %v", err)
	}
}

func (f *fixture) depth() store.Depth {
	f.Helper()
	d, err := f.Depth(f.ctx, f.project)
	if err != nil {
		f.Fatalf("Depth: %v", err)
	}
	return d
}

func (f *fixture) failures() []store.Failure {
	f.Helper()
	fs, err := f.Failures(f.ctx, f.project, 100)
	if err != nil {
		f.Fatalf("Failures: %v", err)
	}
	return fs
}

func (f *fixture) wantErr(what string, err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Errorf("%s: %v, want %v", what, err, want)
	}
}

func (f *fixture) no(what string, err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("%s: %v", what, err)
	}
}
