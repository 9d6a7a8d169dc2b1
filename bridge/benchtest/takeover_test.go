package benchtest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// TestTakeover: another replica does what one of two had in hand, within a second where
// that one stops, and within 15 s where it is cut off from the store, with the usual leases.
func TestTakeover(t *testing.T) {
	for how, bound := range map[string]time.Duration{"stops": time.Second, "is cut off from the store": 15 * time.Second} {
		t.Run(how, func(t *testing.T) {
			if took := takeover(t, how != "stops"); took > bound {
				t.Errorf("the keys of a replica that %s were done after %v, want at most %v", how, took, bound)
			}
		})
	}
}

// takeover is how long the keys that a replica has in hand take to be done when it stops, or
// when the store does not answer it any more.
func takeover(t *testing.T, cutOff bool) (took time.Duration) {
	t.Helper()
	const edits = 60
	memory := memstore.New(memstore.Options{Clock: time.Now, QueueLimit: 200_000})
	var handles []*memstore.Store
	o := bridgetest.Options{OpenStore: func() store.Store {
		handles = append(handles, memory.Open(nil))
		return handles[len(handles)-1]
	}}
	virtually(t, o, func(w *bridgetest.TestWorld) {
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
			handles[1].Crash()
		} else {
			stop(w, other)
		}
		await(w, "all edits are on their cards", 10*time.Millisecond, func() bool { return titles(w) == edits && !anyInHand(w, queue) })
		took = time.Since(began)
		w.T.Logf("done after %v", took)
	})
	return took
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
