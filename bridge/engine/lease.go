package engine

import (
	"context"
	"errors"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// keyLease is the engine's [Lease] for one key while the core works it.
type keyLease struct {
	*slot
	e     *Engine
	claim *store.Claim
}

var _ Lease = (*keyLease)(nil)

// Save implements [Lease].
func (l *keyLease) Save(ctx context.Context, link *mapping.Link) error {
	return l.e.Store.Save(ctx, l.claim, link)
}

var (
	errNearlyOver = errors.New("the lease is nearly over")
	errOver       = errors.New("the lease or the session is over")
)

// Writing implements [Lease]. The context ends well before the lease and with the session, also
// after a wait for the slot.
func (l *keyLease) Writing(ctx context.Context) (context.Context, context.CancelFunc, error) {
	margin := LeaseMargin(l.e.LeaseTTL)
	until := l.claim.Until.Add(-margin)
	l.Acquire()
	if until.Sub(l.e.Clock.Now()) < margin {
		return nil, nil, errNearlyOver
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	ctx, unbind := l.e.Session.Bound(ctx, l.claim.Session)
	if ctx.Err() != nil {
		unbind()
		cancel()
		return nil, nil, errOver
	}
	return ctx, func() { unbind(); cancel() }, nil
}

// Yield implements [Lease].
func (l *keyLease) Yield() (resume func(), retry time.Duration) {
	done, retry := l.e.batches.wait()
	if done == nil {
		return nil, retry
	}
	l.yield()
	return func() {
		l.resume()
		done()
	}, 0
}

// Crowded implements [Lease]. Keys that wait for others of their import do not count. The only
// key of its project is never crowded, as it has no other key to wait for.
func (l *keyLease) Crowded() bool {
	all, of := l.e.turns.count(l.claim.Key.Project)
	return all-int(l.e.batches.importWaiting.Load()) > crowd && of > 1
}

// Join implements [Lease].
func (l *keyLease) Join(ctx context.Context, b Batch, member any) error {
	return l.e.batches.join(ctx, b, member)
}
