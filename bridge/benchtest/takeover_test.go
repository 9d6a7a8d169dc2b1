package benchtest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"planbridge/mapping/mappingtest"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/bridge/clock"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// TestTakeover: another replica finishes the keys in hand of one of two. With the usual leases that
// takes a second where that one stops, and 15 s where it is cut off from the store.
func TestTakeover(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	for how, bound := range map[string]time.Duration{"stops": time.Second, "is cut off from the store": 15 * time.Second} {
		t.Run(how, func(t *testing.T) {
			if took := takeover(t, how != "stops"); took > bound {
				t.Errorf("the keys of a replica that %s were done after %v, want at most %v", how, took, bound)
			}
		})
	}
}

// sharedMemory is a store in memory, with the handle of each replica.
type sharedMemory struct {
	*memstore.Memory
	handles []*memstore.Store
}

func newSharedMemory() *sharedMemory {
	return &sharedMemory{Memory: memstore.New(memstore.Options{Clock: clock.Runtime{}, QueueLimit: 200_000})}
}

func (m *sharedMemory) open() store.Store {
	s := m.Open(nil)
	m.handles = append(m.handles, s)
	return s
}

// takeover is the time until the keys in hand of a replica are done. The replica stops, or the
// store does not answer it any more.
func takeover(t *testing.T, cutOff bool) (took time.Duration) {
	t.Helper()
	const edits = 60
	memory := newSharedMemory()
	virtually(t, bridgetest.Options{OpenStore: memory.open}, func(w *bridgetest.TestWorld) {
		if err := w.StartBridge(); err != nil {
			w.T.Fatal(err)
		}
		time.Sleep(time.Minute)
		for i := range edits {
			w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Issue ", i)})
		}
		time.Sleep(time.Hour)
		other, err := w.AddReplica(nil)
		if err != nil {
			w.T.Fatal(err)
		}
		time.Sleep(time.Minute)
		for i := range edits {
			w.Repo.Edit(i+1, "octocat", func(e *githubtest.IssueEdit) { e.Title = fmt.Sprint("Edited ", i) })
		}
		await(w, "both replicas have keys in hand", time.Millisecond, func() bool { return w.App.InHand() >= 10 && other.InHand() >= 10 })
		began, queue := time.Now(), memory.Open(nil)
		if cutOff {
			memory.handles[1].Crash()
		} else {
			stop(w, other)
		}
		await(w, "all edits are on their cards", 10*time.Millisecond, func() bool { return titles(w) == edits && !anyInHand(w, queue) })
		took = time.Since(began)
		w.T.Logf("done after %v", took)
	})
	return took
}

// TestTakeoverOfNamedLeases: the replica that lists GitHub and polls planning is cut off from the
// store. Another one does both within 15 s, however long the pauses between two rounds are.
func TestTakeoverOfNamedLeases(t *testing.T) {
	mappingtest.SkipUnderRace(t)
	memory := newSharedMemory()
	virtually(t, bridgetest.Options{OpenStore: memory.open}, func(w *bridgetest.TestWorld) {
		if err := w.StartBridge(); err != nil {
			w.T.Fatal(err)
		}
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: "One"})
		time.Sleep(time.Minute)
		if _, err := w.AddReplica(nil); err != nil {
			w.T.Fatal(err)
		}
		time.Sleep(time.Hour)
		await(w, "a catch-up, which begins a pause", 10*time.Millisecond, countsUp(w, "issues.list"))
		time.Sleep(time.Second)
		memory.handles[0].Crash()
		began, listed := time.Now(), countsUp(w, "issues.list")
		w.Project.EditCard(w.Project.Cards()[0].ID, "alice", func(e *planningtest.CardEdit) { e.Title = "Two" })
		await(w, "GitHub is listed, and the edit is on its issue", 10*time.Millisecond, func() bool { return listed() && w.Repo.Issue(1).Title == "Two" })
		took := time.Since(began)
		if t.Logf("done after %v", took); took > 15*time.Second {
			t.Errorf("another replica did both after %v, want at most 15s", took)
		}
	})
}

// countsUp reports whether GitHub was asked for an operation since it was made.
func countsUp(w *bridgetest.TestWorld, operation string) func() bool {
	before := w.GitHub.Calls(operation)
	return func() bool { return w.GitHub.Calls(operation) > before }
}

func stop(w *bridgetest.TestWorld, app *bridge.App) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), time.Minute)
	defer cancel()
	if err := app.Stop(ctx); err != nil {
		w.T.Fatal(err)
	}
}

// anyInHand reports whether any key is due, or is under a claim.
func anyInHand(w *bridgetest.TestWorld, queue *memstore.Store) bool {
	w.T.Helper()
	project := mapping.ObjectID(w.Project.ID())
	d, err := queue.Depth(w.T.Context(), project)
	if err != nil {
		w.T.Fatal(err)
	}
	standings, err := queue.Standings(w.T.Context(), project, 1000)
	if err != nil {
		w.T.Fatal(err)
	}
	return !d.Oldest.IsZero() || slices.ContainsFunc(standings, func(s store.Standing) bool { return s.State == store.KeyWorked })
}

// titles is how many cards have their issue's title.
func titles(w *bridgetest.TestWorld) (same int) {
	cards := map[string]bool{}
	for _, c := range w.Project.Cards() {
		cards[c.Title] = true
	}
	for _, i := range w.Repo.Issues() {
		if cards[i.Title] {
			same++
		}
	}
	return same
}
