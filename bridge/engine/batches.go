package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// How keys wait for each other.
const (
	// linger is how long after the last key joined the batch asks whether others are still
	// to come. It waits for those, as live keys go before them, until two thirds of the
	// time are over that any member had when it joined: the rest of that member's lease is
	// for what is done.
	linger = 400 * time.Millisecond
	// briefMost bounds how long the members of a brief batch wait for each other, however fast
	// they come.
	briefMost = 2 * time.Second
	// waitMost bounds how many keys wait at once: in batches that are being done, and in
	// those that others may still join.
	waitMost = 400
	// crowdedWait is how long a key is put off where too many wait already.
	crowdedWait = time.Second
)

// errBroken: what was done together did not come to its end.
var errBroken = errors.New("broken off")

// batches lets keys that are worked at the same time do one thing together: those that
// join one batch within a moment are acted for at once. It is safe for concurrent use.
type batches struct {
	store store.Store
	clock Clock
	guard *guard.Guard // sets aside what the program panics on; nil: nothing is remembered of it

	waiting chan struct{} // held by keys that wait for others
	crowded atomic.Int64  // until when keys are waited for that were put off, Unix nanoseconds
	turns   sync.Map      // of the batches that take turns: project to chan struct{}
	patient atomic.Int64  // members of batches that are not brief: keys of an import

	mu   sync.Mutex
	open map[batchID]*batch
}

// batchID tells the batches that are open at a time apart.
type batchID struct {
	project mapping.ObjectID
	name    string
	most    int
}

func (id batchID) String() string { return fmt.Sprint(id.project, " ", id.name) }

// batch is one that was joined. All members brought the same [Batch].
type batch struct {
	Batch
	members []any
	ctxs    []context.Context // of the members
	until   time.Time         // when others are waited for no longer
	came    chan struct{}     // somebody joined
	full    chan struct{}     // closed when no more are taken
	done    chan struct{}     // closed when it was acted
	err     error             // then: why it was not to its end
}

func newBatches(s store.Store, clock Clock, g *guard.Guard) *batches {
	return &batches{store: s, clock: clock, guard: g, waiting: make(chan struct{}, waitMost), open: map[batchID]*batch{}}
}

// wait counts a key among those that wait, until done is called; nil: too many do.
func (b *batches) wait() (done func(), retry time.Duration) {
	select {
	case b.waiting <- struct{}{}:
		return func() { <-b.waiting }, 0
	default:
		b.crowded.Store(b.clock.Now().Add(2 * crowdedWait).UnixNano())
		return nil, crowdedWait
	}
}

// join implements [Lease].
func (b *batches) join(ctx context.Context, what Batch, member any) error {
	if what.Most <= 0 {
		what.Most = waitMost
	}
	id := batchID{what.Project, what.Name, what.Most}
	if !what.Brief {
		b.patient.Add(1)
		defer b.patient.Add(-1)
	}
	g := b.enter(ctx, id, what, member)
	select {
	case <-g.done:
		return g.err
	case <-ctx.Done():
	}
	if b.leave(id, g, member) {
		return ErrNotTaken
	}
	return ctx.Err()
}

func (b *batches) enter(ctx context.Context, id batchID, what Batch, member any) *batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.open[id]
	if g == nil {
		g = &batch{Batch: what, came: make(chan struct{}, 1), full: make(chan struct{}), done: make(chan struct{})}
		b.open[id] = g
		b.guard.Spawn(nil, "batch", func() { b.run(id, g) })
	}
	g.members, g.ctxs = append(g.members, member), append(g.ctxs, ctx)
	end, _ := ctx.Deadline() // a key that is worked has one
	now := b.clock.Now()
	patience := end.Sub(now) * 2 / 3
	if g.Brief {
		patience = min(patience, briefMost)
	}
	if until := now.Add(patience); len(g.members) == 1 || until.Before(g.until) {
		g.until = until
	}
	select {
	case g.came <- struct{}{}:
	default:
	}
	if len(g.members) >= g.Most {
		delete(b.open, id)
		close(g.full)
	}
	return g
}

// leave takes a member out of a batch that others may still join.
func (b *batches) leave(id batchID, g *batch, member any) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[id] != g {
		return false
	}
	i := slices.Index(g.members, member)
	if i >= 0 {
		g.members, g.ctxs = slices.Delete(g.members, i, i+1), slices.Delete(g.ctxs, i, i+1)
	}
	return i >= 0
}

// run waits for a batch to be complete and acts for it.
func (b *batches) run(id batchID, g *batch) {
	defer close(g.done)
	b.complete(id, g)
	b.mu.Lock()
	if b.open[id] == g {
		delete(b.open, id)
	}
	b.mu.Unlock()
	g.err = errBroken // stands where the act does not return
	g.err = b.guard.Do("batch", id.String(), func() error { return b.act(g) })
}

// complete waits for members, until no more are to come.
func (b *batches) complete(id batchID, g *batch) {
	patience, pause := time.NewTimer(b.left(g)), time.NewTimer(linger)
	defer patience.Stop()
	defer pause.Stop()
	for {
		select {
		case <-g.came:
			pause.Reset(linger)
			patience.Reset(b.left(g))
		case <-pause.C:
			if ctx := b.anyone(g); ctx == nil || g.Brief || !b.more(ctx, id.project) {
				return
			}
			pause.Reset(linger)
		case <-g.full:
			return
		case <-patience.C:
			return
		}
	}
}

// act does what the members of a batch joined for. One that writes ends before the time of any
// member does.
func (b *batches) act(g *batch) error {
	if len(g.members) == 0 {
		return nil
	}
	ctx, cancel := g.bounded()
	defer cancel()
	if g.Turn {
		turn := b.turn(g.Project)
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
		}
	}
	if g.Write && ctx.Err() != nil {
		return ErrNotTaken
	}
	g.Act(ctx, g.members)
	return nil
}

// bounded is the context that the batch is done under.
func (g *batch) bounded() (context.Context, context.CancelFunc) {
	ctx := g.ctxs[0]
	if !g.Write {
		return context.WithCancel(ctx)
	}
	until, _ := ctx.Deadline()
	for _, c := range g.ctxs {
		if end, ok := c.Deadline(); ok && end.Before(until) {
			until = end
		}
	}
	return context.WithDeadline(ctx, until)
}

// turn lets one batch of a project be done at a time.
func (b *batches) turn(project mapping.ObjectID) chan struct{} {
	turn, _ := b.turns.LoadOrStore(project, make(chan struct{}, 1))
	return turn.(chan struct{})
}

// left is how long others are waited for at most.
func (b *batches) left(g *batch) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return g.until.Sub(b.clock.Now())
}

// anyone is the context of a member that is still there, nil where none is.
func (b *batches) anyone(g *batch) context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(g.ctxs) == 0 {
		return nil
	}
	return g.ctxs[0]
}

// more reports whether keys of an import are still to come for which those that wait
// should wait: they are due and nobody works them, were put off as too many waited, or an
// import is about to observe them. Keys that wait for anything else, as for their share of
// GitHub's write budget, are none of them.
func (b *batches) more(ctx context.Context, project mapping.ObjectID) bool {
	if len(b.waiting) == cap(b.waiting) && len(b.turn(project)) == 0 {
		return false // nobody is let in before one of those who wait goes
	}
	if b.clock.Now().UnixNano() < b.crowded.Load() {
		return true
	}
	d, err := b.store.Depth(ctx, project)
	if err != nil || d.Due > 0 {
		return err == nil
	}
	until, err := b.store.Doc(ctx, project, store.DocImporting)
	var at time.Time
	return err == nil && at.UnmarshalText(until) == nil && b.clock.Now().Before(at)
}
