package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"planbridge/bridge/guard"
)

// How keys of an import wait for each other.
const (
	// gatherLinger is how long after the last one that came it is asked whether
	// others are still to come. While they are they are waited for, as live keys
	// go before them: until two thirds of the time are over that any of those who
	// are there had when it came, since the rest of its lease is for what is done.
	gatherLinger = 400 * time.Millisecond
	// gatherMost bounds how many keys wait at once: batches that are being made,
	// and those that are gathering for some buckets.
	gatherMost = 4 * batchSize
)

// errNotTaken: the wait ended before anything was done.
var errNotTaken = errors.New("nothing was done yet")

// errBroken: what was done together did not come to its end.
var errBroken = errors.New("broken off")

// gathering lets keys that are worked at the same time do one thing together:
// those that join under one name within a moment are acted for at once. The
// zero value with its functions set is ready to use. It is safe for concurrent use.
type gathering[K comparable, M any] struct {
	// act does it and leaves each member its outcome. ctx is that of one of
	// them.
	act func(ctx context.Context, name K, members []*M)
	// more reports whether others may still come.
	more func(ctx context.Context, name K) bool
	// guard sets aside what the program panics on; nil: nothing is remembered of it.
	guard *guard.Guard
	mu    sync.Mutex
	open  map[K]*group[M]
}

type group[M any] struct {
	members []*M
	ctxs    []context.Context // of the members
	until   time.Time         // when others are waited for no longer
	came    chan struct{}     // somebody joined
	full    chan struct{}     // closed when no more are taken
	done    chan struct{}     // closed when it was acted
	err     error             // then: why it was not to its end
}

// join waits until it was acted for m together with others, most of them at
// most. errNotTaken says that ctx ended before it began; any other error that
// nobody knows how far it came.
func (g *gathering[K, M]) join(ctx context.Context, name K, m *M, most int) error {
	b := g.enter(ctx, name, m, most)
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
	}
	if g.leave(name, b, m) {
		return errNotTaken
	}
	return ctx.Err()
}

func (g *gathering[K, M]) enter(ctx context.Context, name K, m *M, most int) *group[M] {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.open[name]
	if b == nil {
		b = &group[M]{came: make(chan struct{}, 1), full: make(chan struct{}), done: make(chan struct{})}
		if g.open == nil {
			g.open = map[K]*group[M]{}
		}
		g.open[name] = b
		g.guard.Spawn(nil, "batch", func() { g.run(name, b) })
	}
	b.members, b.ctxs = append(b.members, m), append(b.ctxs, ctx)
	end, _ := ctx.Deadline() // a key that is worked has one
	if until := time.Now().Add(time.Until(end) * 2 / 3); len(b.members) == 1 || until.Before(b.until) {
		b.until = until
	}
	select {
	case b.came <- struct{}{}:
	default:
	}
	if len(b.members) >= most {
		delete(g.open, name)
		close(b.full)
	}
	return b
}

// leave takes a member out of a group that is still gathering.
func (g *gathering[K, M]) leave(name K, b *group[M], m *M) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[name] != b {
		return false
	}
	for i := range b.members {
		if b.members[i] == m {
			b.members, b.ctxs = slices.Delete(b.members, i, i+1), slices.Delete(b.ctxs, i, i+1)
			return true
		}
	}
	return false
}

// run waits for the group to be complete and acts for it.
func (g *gathering[K, M]) run(name K, b *group[M]) {
	defer close(b.done)
	patience, linger := time.NewTimer(g.left(b)), time.NewTimer(gatherLinger)
	defer patience.Stop()
	defer linger.Stop()
	for waiting := true; waiting; {
		select {
		case <-b.came:
			linger.Reset(gatherLinger)
			patience.Reset(g.left(b))
		case <-b.full:
			waiting = false
		case <-linger.C:
			if ctx := g.anyone(b); ctx == nil {
				waiting = false
			} else if waiting = g.more(ctx, name); waiting {
				linger.Reset(gatherLinger)
			}
		case <-patience.C:
			waiting = false
		}
	}
	g.mu.Lock()
	if g.open[name] == b {
		delete(g.open, name)
	}
	g.mu.Unlock()
	b.err = errBroken // stands where act does not return
	b.err = g.guard.Do("batch", fmt.Sprint(name), func() error {
		if len(b.members) > 0 {
			g.act(b.ctxs[0], name, b.members)
		}
		return nil
	})
}

// left is how long others are waited for at most.
func (g *gathering[K, M]) left(b *group[M]) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Until(b.until)
}

// anyone is the context of a member that is still there, nil where none is.
func (g *gathering[K, M]) anyone(b *group[M]) context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(b.ctxs) == 0 {
		return nil
	}
	return b.ctxs[0]
}
