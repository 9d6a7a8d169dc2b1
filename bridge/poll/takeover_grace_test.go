package poll_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/poll"
	"planbridge/store"
	"planbridge/store/boltstore"
)

// twoReplicas is a world in which replica-1 polls and replica-2 waits for its
// turn.
func twoReplicas(t *testing.T) (w *world, second *poll.Poller, path string) {
	w, path = newWorld(t), filepath.Join(t.TempDir(), "store.db")
	s, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w.store.Store = s
	w.planned.put(incoming, "Incoming", card("old"))
	w.adopted()
	o := w.options
	o.Owner, o.Interval = "replica-2", 12*time.Second // its turns come more often
	return w, o.poller(), path
}

// TestDeadReplica: one that is killed gives nothing back, and polling goes on
// within its lease and one interval.
func TestDeadReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, second, _ := twoReplicas(t)
		const lease = 90 * time.Second // three intervals
		held, err := w.store.Acquire(t.Context(), "poll:"+string(project), "replica-1", lease)
		if err != nil || !held {
			t.Fatal(held, err)
		}
		go second.Run(t.Context())
		pass(lease - time.Second)
		if n := w.planned.count("backlog"); n != 0 {
			t.Fatalf("%d polls while the lease was another's", n)
		}
		pass(15 * time.Second)
		if n := w.planned.count("backlog"); n == 0 {
			t.Error("nobody polls")
		}
	})
}

// TestLostStoreWithReplicas: when the store is emptied, whoever polled goes on,
// so that a card of the meantime enters, though another replica comes first.
func TestLostStoreWithReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, second, path := twoReplicas(t)
		go w.poller.Run(t.Context())
		synctest.Wait()
		go second.Run(t.Context())
		pass(time.Minute)
		w.lose(path)
		w.planned.put(incoming, "Incoming", card("old"), card("new"))
		pass(5 * time.Minute)
		if l := w.onlyLink(); l.Card.ID != "new" {
			t.Errorf("link %+v", l)
		}
	})
}

// TestStoreIsLostBeforeTheLease: a replica gets the lease because it was lost with the store, just
// before it asked. It gives the lease back to the replica that polled.
func TestStoreIsLostBeforeTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, path := twoReplicas(t)
		o, asked := w.options, &losing{Store: w.store}
		o.Owner, o.Interval, o.Store = "replica-2", 12*time.Second, asked
		go w.poller.Run(t.Context())
		synctest.Wait()
		go o.poller().Run(t.Context())
		pass(time.Minute)
		lose := func() {
			w.lose(path)
			w.planned.put(incoming, "Incoming", card("old"), card("new"))
		}
		asked.lose.Store(&lose)
		pass(5 * time.Minute)
		if l := w.onlyLink(); l.Card.ID != "new" {
			t.Errorf("link %+v", l)
		}
	})
}

// losing is a store that is lost when a lease is asked for next.
type losing struct {
	store.Store
	lose atomic.Pointer[func()]
}

func (l *losing) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error) {
	if lose := l.lose.Swap(nil); lose != nil {
		(*lose)()
	}
	return l.Store.Acquire(ctx, name, owner, ttl)
}

// TestLostStoreAndReplica: where the one that polled is gone as well, another
// one polls after a lease's time.
func TestLostStoreAndReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, second, path := twoReplicas(t)
		w.poll()
		if _, err := w.store.Acquire(t.Context(), "poll:"+string(project), "replica-1", time.Hour); err != nil {
			t.Fatal(err)
		}
		go second.Run(t.Context())
		pass(time.Minute)
		before := w.planned.count("backlog")
		w.lose(path)
		pass(3 * time.Minute)
		if w.planned.count("backlog") == before {
			t.Error("nobody polls")
		}
	})
}

// lose empties the store, as a bridge notices it.
func (w *world) lose(path string) {
	w.t.Helper()
	if err := os.Remove(path); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.store.Epoch(w.t.Context()); !errors.Is(err, store.ErrEpoch) {
		w.t.Fatalf("a store that was lost: %v", err)
	}
	if _, err := w.store.Adopt(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.adopted()
}
