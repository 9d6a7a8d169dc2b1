package poll_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// pass lets time go by in a bubble, and what is to happen then happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// TestRun: it polls at once, in a new store twice, and then about every interval, and
// stops when told.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.poller.Run(ctx) }()
		synctest.Wait()
		if n := w.planned.count("backlog"); n != 2 {
			t.Errorf("%d polls at once, want 2", n)
		}
		pass(30 * 30 * time.Second)
		if n := w.planned.count("backlog"); n < 28 || n > 33 {
			t.Errorf("%d polls in thirty intervals", n)
		}
		if w.woken != w.planned.count("backlog") || len(w.failed) != 0 {
			t.Errorf("woken %d times, failures %v", w.woken, w.failed)
		}
		cancel()
		<-done
	})
}

// TestOnePollerAtATime: of two replicas one polls, and when it ends the other
// goes on.
func TestOnePollerAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		second := &service{items: w.planned.items, fails: map[string]error{}}
		o := w.options
		o.Owner, o.Planning = "replica-2", second

		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan struct{})
		go func() { defer close(first); w.poller.Run(ctx) }()
		synctest.Wait()
		go o.poller().Run(t.Context())
		pass(time.Hour)
		if n := second.count("backlog"); n != 0 {
			t.Errorf("the second replica polled %d times", n)
		}
		before := w.planned.count("backlog")
		cancel()
		<-first
		pass(time.Minute)
		if n := second.count("backlog"); n == 0 || w.planned.count("backlog") != before {
			t.Errorf("after the first one ended the second polled %d times", n)
		}
	})
}

// TestTakenOver: a replica that lost its lease drops its memory. So a card that entered by the
// other one, and did not stay, does not enter again.
func TestTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.planned.put(incoming, "Incoming")
		go w.poller.Run(t.Context())
		synctest.Wait()

		o := w.options
		o.Owner = "replica-2"
		if err := w.store.Release(t.Context(), "poll:"+string(project), "replica-1"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); o.poller().Run(ctx) }()
		pass(time.Minute)
		w.planned.put(incoming, "Incoming", card("a"))
		pass(time.Minute)
		if err := remove(w, w.onlyLink()); err != nil {
			t.Fatal(err)
		}
		cancel()
		<-done

		before := w.planned.count("backlog")
		pass(5 * time.Minute)
		if w.planned.count("backlog") == before {
			t.Fatal("the first replica did not go on")
		}
		if n := len(w.links()); n != 0 {
			t.Errorf("%d links of a card that had entered before", n)
		}
	})
}

// slowPlanning answers the backlog only when its context ends or it is told.
type slowPlanning struct {
	*service
	release chan struct{}
}

func (s *slowPlanning) BacklogNews(ctx context.Context, _ string, _ func(mapping.ObjectID, string, []byte, []byte) bool, _ func(mapping.ObjectID, string, mapping.Card) error) (string, bool, error) {
	if err := s.call("backlog"); err != nil {
		return "", false, err
	}
	select {
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	case <-s.release:
		return "", false, nil
	}
}

// TestLongPollKeepsItsLease: a poll that takes longer than the lease extends it.
func TestLongPollKeepsItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		slow := &slowPlanning{w.planned, make(chan struct{})}
		w.options.Planning = slow
		w.restart()
		go w.poller.Run(t.Context())
		pass(time.Hour)
		held, err := w.store.Acquire(t.Context(), "poll:"+string(project), "replica-2", time.Second)
		if err != nil || held {
			t.Errorf("a second replica got the lease: %v, %v", held, err)
		}
		close(slow.release)
		synctest.Wait()
		if len(w.failed) != 0 {
			t.Errorf("failures %v", w.failed)
		}
	})
}

// TestLostLeaseEndsThePoll: where the lease cannot be kept, the poll ends.
func TestLostLeaseEndsThePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		slow := &slowPlanning{w.planned, make(chan struct{})}
		leases := &brokenLeases{Store: w.store}
		w.options.Planning, w.options.Store = slow, leases
		w.restart()
		go w.poller.Run(t.Context())
		synctest.Wait()
		leases.broken.Store(true)
		pass(5 * time.Minute)
		if len(w.failed) == 0 {
			t.Error("the poll went on without its lease")
		}
		if n := w.planned.count("backlog"); n != 1 {
			t.Errorf("%d polls without a lease", n-1)
		}
	})
}

// brokenLeases are leases that cannot be reached once broken.
type brokenLeases struct {
	store.Store
	broken atomic.Bool
}

func (s *brokenLeases) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error) {
	if s.broken.Load() {
		return false, errors.New("connection refused")
	}
	return s.Store.Acquire(ctx, name, owner, ttl)
}

// TestFailureIsTold: a round that fails is told with its error, and wakes
// nothing.
func TestFailureIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.planned.fails["backlog"] = mapping.ErrUnavailable
		go w.poller.Run(t.Context())
		synctest.Wait()
		if len(w.failed) != 1 || !errors.Is(w.failed[0], mapping.ErrUnavailable) || w.woken != 0 {
			t.Errorf("failures %v, woken %d times", w.failed, w.woken)
		}
	})
}
