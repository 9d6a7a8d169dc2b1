// Package lease repeats work of which one replica at a time has the turn.
package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/bridge/guard"
)

// ErrTaken ends a round whose lease could not be kept.
var ErrTaken = errors.New("another replica has the lease")

// releaseTimeout bounds how long a replica that ends waits for the store.
const releaseTimeout = 2 * time.Second

// Clock tells the time.
type Clock interface{ Now() time.Time }

// Random draws a number in [0, n).
type Random interface{ Int64N(n int64) int64 }

// Every calls round at once and then after each pause, ± 10 %, until ctx ends. Replicas
// and projects so do not march in step.
func Every(ctx context.Context, g *guard.Guard, what string, random Random, pause func() time.Duration, round func(context.Context)) {
	for ctx.Err() == nil {
		_ = g.Do(what, "", func() error { round(ctx); return nil }) // a panic was logged
		d := pause()
		timer := time.NewTimer(d - d/10 + time.Duration(random.Int64N(int64(d/5)+1)))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// TTL makes a lease outlast the pause between two rounds, so that the replica whose
// caches are warm goes on.
func TTL(pause time.Duration) time.Duration { return max(3*pause, 15*time.Second) }

// Locks are the named locks of the store.
type Locks interface {
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error)
	Release(ctx context.Context, name, owner string) error
}

// Lease is a named lock of the store that one replica keeps from round to round. It is
// not safe for concurrent use.
type Lease struct {
	Store Locks
	Clock Clock
	Name  string
	Owner string // names the replica
	TTL   time.Duration

	until time.Time // when it ends unless it is extended
}

// Acquire takes or extends the lease. kept says that nobody else can have had it since
// it was last extended.
func (l *Lease) Acquire(ctx context.Context) (held, kept bool, err error) {
	asked := l.Clock.Now()
	held, err = l.Store.Acquire(ctx, l.Name, l.Owner, l.TTL)
	if err != nil {
		return false, false, fmt.Errorf("lease %s: %w", l.Name, err)
	}
	kept = held && asked.Before(l.until)
	if held {
		l.until = asked.Add(l.TTL)
	}
	return held, kept, nil
}

// Hold extends the lease while fn runs under the guard, and ends fn's context when it is lost.
func (l *Lease) Hold(ctx context.Context, g *guard.Guard, what, item string, fn func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	g.Spawn(nil, "lease "+l.Name, func() {
		defer close(stopped)
		if l.extend(ctx) != nil {
			cancel(ErrTaken)
		}
	})
	err := g.Do(what, item, func() error { return fn(ctx) })
	if cause := context.Cause(ctx); errors.Is(cause, ErrTaken) {
		err = cause
	}
	cancel(nil)
	<-stopped
	return err
}

// extend keeps the lease until ctx ends. A store that does not answer loses the lease
// only when its time is over.
func (l *Lease) extend(ctx context.Context) error {
	tick := time.NewTicker(l.TTL / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if held, _, err := l.Acquire(ctx); err == nil && !held || l.Clock.Now().After(l.until) {
			return ErrTaken
		}
	}
}

// Release gives the lease back, for another replica to go on at once. Where the store
// does not answer, the lease runs out.
func (l *Lease) Release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	_ = l.Store.Release(ctx, l.Name, l.Owner)
}
