package reconcile_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// trips counts how often Redis was asked something.
type trips struct{ n atomic.Int64 }

func (t *trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (t *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		t.n.Add(1)
		return next(ctx, cmd)
	}
}

func (t *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.n.Add(1)
		return next(ctx, cmds)
	}
}

// orderly notes the order in which keys are ended.
type orderly struct {
	store.Store
	mu    sync.Mutex
	ended []store.Key
	most  int
	all   chan struct{} // closed when most were ended; nil: nobody waits
}

func (o *orderly) note(c *store.Claim) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = append(o.ended, c.Key)
	if o.all != nil && len(o.ended) == o.most {
		close(o.all)
	}
}

func (o *orderly) Finish(ctx context.Context, c *store.Claim, l *mapping.Link, h []mapping.Entry, out store.Outcome) error {
	defer o.note(c)
	return o.Store.Finish(ctx, c, l, h, out)
}

func (o *orderly) FinishAndClaim(ctx context.Context, c *store.Claim, l *mapping.Link, h []mapping.Entry, out store.Outcome, ttl time.Duration) (*store.Claim, error) {
	defer o.note(c)
	return o.Store.FinishAndClaim(ctx, c, l, h, out, ttl)
}

// until lets the bridge work by itself until so many keys were ended.
func (w *world) until(t *testing.T, o *orderly, keys int) {
	t.Helper()
	o.all = make(chan struct{})
	o.most = keys
	o.ended = nil
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.engine.Run(ctx, time.Minute)
	}()
	select {
	case <-o.all:
	case <-time.After(time.Minute):
		t.Errorf("%d keys were not ended within a minute", keys)
	}
	cancel()
	<-ended
}

// seeAll has the bridge see that the titles of all issues were changed on GitHub.
func (w *world) seeAll(title string) {
	for n, i := range w.hub.issues {
		i.Title, i.UpdatedAt = fmt.Sprint(title, " ", n), i.UpdatedAt.Add(time.Minute)
		seen := i.snapshot(dev)
		ref := mapping.IssueRef(seen.ID)
		w.observe(store.Observation{Refs: []mapping.Ref{ref}, Item: ref, At: seen.UpdatedAt.Unix(), Digest: mapping.DigestIssue(&seen), Data: encode(seen)}, nil)
	}
}

// TestRoundTripsPerReconcile holds the design's numbers for Redis while there is work. A reconcile
// that writes asks it twice: for the pending record, and for its end with the next key. One that
// finds nothing to write asks once.
func TestRoundTripsPerReconcile(t *testing.T) {
	const issues = 20
	count := &trips{}
	s, err := redisstore.Open(t.Context(), redisstore.Options{URL: redistest.Start(t).URL, Hook: count})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the server ends with the test
	o := &orderly{Store: s}
	w := newWorld(o)
	w.hub.lag = func(int) time.Duration { return 0 }
	w.crowd = 1
	w.restart()
	for n := range issues {
		w.openIssue(fmt.Sprint("Issue ", n), body)
	}
	w.keepAppointments()
	w.until(t, o, issues)
	w.poll()
	w.until(t, o, issues)

	for _, c := range []struct {
		name   string
		change func()
		per    int64
	}{
		{"an edit on GitHub", func() { w.seeAll("edited") }, 2},
		{"its echo in planning", func() { w.poll() }, 1},
	} {
		c.change()
		before := count.n.Load()
		w.until(t, o, issues)
		// The first key has to be claimed, after the last one is none, and now and
		// then the store asks how its server is.
		if got := count.n.Load() - before; got > c.per*issues+issues/4 {
			t.Errorf("%s: %d round trips for %d reconciles, want %d each", c.name, got, issues, c.per)
		}
	}
	for _, card := range w.plan.cards {
		if card.Version < 2 {
			t.Errorf("%q was not written", card.Title.Value)
		}
	}
	for _, err := range w.errs {
		t.Error(err)
	}
}
