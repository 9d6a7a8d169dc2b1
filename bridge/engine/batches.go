package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// Bounds on how long, and how many, keys wait for each other.
const (
	// joinGrace is how long a batch waits after its last member joined, before it asks whether
	// more keys of an import come. It then waits for those, as live keys are worked before them.
	// A member waits for two thirds of the time that its lease had left when it joined. The batch
	// is done in the rest.
	joinGrace = 400 * time.Millisecond
	// maxBriefWait bounds how long the members of a brief batch wait for each other, however fast
	// they join.
	maxBriefWait = 2 * time.Second
	// maxWaiting bounds how many keys wait at once, in open batches and in batches under way.
	maxWaiting = 400
	// crowdedWait is how long a key is put off while maxWaiting keys wait.
	crowdedWait = time.Second
)

// errIncomplete is the error of a batch whose Act did not return.
var errIncomplete = errors.New("broken off")

// batches lets keys that are worked at the same time act together: keys that join one batch
// within a moment share one call. It is safe for concurrent use.
type batches struct {
	store store.Store
	clock clock.Source
	guard *guard.Guard // it handles panics of the act; nil: panics are not recorded

	waiting       chan struct{} // holds one element for each key that waits for others
	crowdedUntil  atomic.Int64  // Unix nanoseconds: until then, batches wait for keys that maxWaiting put off
	turns         sync.Map      // project to chan struct{}: held by the batch that has its project's turn
	importWaiting atomic.Int64  // members of batches that are not brief: keys of an import

	mu   sync.Mutex
	open map[batchID]*batch
}

// batchID identifies an open batch.
type batchID struct {
	project mapping.ObjectID
	name    string
	most    int
}

func (id batchID) String() string { return fmt.Sprint(id.project, " ", id.name) }

// batch is one shared act and its members. All members joined with the same [Batch].
type batch struct {
	Batch
	members []any
	ctxs    []context.Context // of the members
	until   time.Time         // the batch waits for further members until then
	joined  chan struct{}     // receives when a member joined
	full    chan struct{}     // closed when the batch has Most members
	done    chan struct{}     // closed when the batch ended
	err     error             // why the batch failed; valid once done is closed
}

func newBatches(s store.Store, c clock.Source, g *guard.Guard) *batches {
	return &batches{store: s, clock: c, guard: g, waiting: make(chan struct{}, maxWaiting), open: map[batchID]*batch{}}
}

// wait counts a key as waiting until done is called. It returns nil where maxWaiting keys wait.
func (b *batches) wait() (done func(), retry time.Duration) {
	select {
	case b.waiting <- struct{}{}:
		return func() { <-b.waiting }, 0
	default:
		b.crowdedUntil.Store(b.clock.Now().Add(2 * crowdedWait).UnixNano())
		return nil, crowdedWait
	}
}

// join implements [Lease].
func (b *batches) join(ctx context.Context, what Batch, member any) error {
	if what.Most <= 0 {
		what.Most = maxWaiting
	}
	id := batchID{what.Project, what.Name, what.Most}
	if !what.Brief {
		b.importWaiting.Add(1)
		defer b.importWaiting.Add(-1)
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
		g = &batch{Batch: what, joined: make(chan struct{}, 1), full: make(chan struct{}), done: make(chan struct{})}
		b.open[id] = g
		b.guard.Spawn(nil, "batch", func() { b.run(id, g) })
	}
	g.members, g.ctxs = append(g.members, member), append(g.ctxs, ctx)
	end, _ := ctx.Deadline() // the engine sets a deadline for each key
	now := b.clock.Now()
	limit := end.Sub(now) * 2 / 3
	if g.Brief {
		limit = min(limit, maxBriefWait)
	}
	if until := now.Add(limit); len(g.members) == 1 || until.Before(g.until) {
		g.until = until
	}
	select {
	case g.joined <- struct{}{}:
	default:
	}
	if len(g.members) >= g.Most {
		delete(b.open, id)
		close(g.full)
	}
	return g
}

// leave removes a member from a batch that is still open. It reports whether it did.
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

// run waits until a batch is complete, and then acts.
func (b *batches) run(id batchID, g *batch) {
	defer close(g.done)
	b.complete(id, g)
	b.mu.Lock()
	if b.open[id] == g {
		delete(b.open, id)
	}
	b.mu.Unlock()
	g.err = errIncomplete // remains where the act does not return
	g.err = b.guard.Do("batch", id.String(), func() error { return b.act(g) })
}

// complete waits until no further member is expected.
func (b *batches) complete(id batchID, g *batch) {
	limit, pause := time.NewTimer(b.left(g)), time.NewTimer(joinGrace)
	defer limit.Stop()
	defer pause.Stop()
	for {
		select {
		case <-g.joined:
			pause.Reset(joinGrace)
			limit.Reset(b.left(g))
		case <-pause.C:
			if ctx := b.anyone(g); ctx == nil || g.Brief || !b.more(ctx, id.project) {
				return
			}
			pause.Reset(joinGrace)
		case <-g.full:
			return
		case <-limit.C:
			return
		}
	}
}

// act calls the batch's Act. A batch that writes ends before the deadline of each member.
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

// bounded returns the context for the batch's Act.
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

// turn returns the lock that lets one batch of a project act at a time.
func (b *batches) turn(project mapping.ObjectID) chan struct{} {
	turn, _ := b.turns.LoadOrStore(project, make(chan struct{}, 1))
	return turn.(chan struct{})
}

// left returns how long the batch still waits for members.
func (b *batches) left(g *batch) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return g.until.Sub(b.clock.Now())
}

// anyone returns the context of a remaining member, or nil.
func (b *batches) anyone(g *batch) context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(g.ctxs) == 0 {
		return nil
	}
	return g.ctxs[0]
}

// more reports whether further keys of an import will soon ask to join. Such a key is due and
// unclaimed, or was put off since maxWaiting keys waited, or an import will observe it soon. Keys
// that wait for something else, as for GitHub's write budget, do not count.
func (b *batches) more(ctx context.Context, project mapping.ObjectID) bool {
	if len(b.waiting) == cap(b.waiting) && len(b.turn(project)) == 0 {
		return false // no key can join before a waiting one leaves
	}
	if b.clock.Now().UnixNano() < b.crowdedUntil.Load() {
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
