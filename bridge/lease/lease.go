// Package lease repeats work that one replica at a time may do.
package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/store"
)

// ErrTaken ends a round that lost its lease.
var ErrTaken = errors.New("another replica has the lease")

// releaseTimeout bounds how long a stopping replica waits for the store.
const releaseTimeout = 2 * time.Second

// Random draws a number in [0, n).
type Random interface{ Int64N(n int64) int64 }

// Every calls round at once and then after each pause, ± 10 %, until ctx ends. Replicas and
// projects therefore do not act in step.
func Every(ctx context.Context, g *guard.Guard, what string, random Random, pause func() time.Duration, round func(context.Context)) {
	new(Lease).Every(ctx, g, what, random, pause, round)
}

// rest waits for a pause, ± 10 %, or until something ends it.
func rest(ctx context.Context, random Random, pause time.Duration, fallen, early <-chan struct{}) {
	timer := time.NewTimer(pause - pause/10 + time.Duration(random.Int64N(int64(pause/5)+1)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-fallen:
	case <-early:
	case <-timer.C:
	}
}

// TTL makes a lease longer than the pause between two rounds, so that the replica with warm
// caches goes on.
func TTL(pause time.Duration) time.Duration { return max(3*pause, 15*time.Second) }

// Locks are the named locks of the store.
type Locks interface {
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error)
	Release(ctx context.Context, name, owner string) error
}

// Session is the process's session, with which its leases end.
type Session interface {
	// Current returns the session, or why the process has none now.
	Current() (store.Session, error)
	// Bound returns a context that ends with a session.
	Bound(ctx context.Context, s store.Session) (context.Context, context.CancelFunc)
	// Fallen is closed once this process learns that another one's session fell.
	Fallen() <-chan struct{}
}

// Lease is a named lock of the store that one replica keeps over many rounds. It ends with the
// replica's session, and another replica that learns of that goes on at once. It is not safe for
// concurrent use.
type Lease struct {
	Store   Locks
	Session Session // nil: the lease ends by time only
	Clock   clock.Clock
	Name    string
	Owner   string // identifies the replica
	TTL     time.Duration
	// Early begins a round of Every before its pause is over; nil: nothing does.
	Early <-chan struct{}

	held    bool          // according to the last answer
	until   time.Time     // the end of the lease unless it is extended
	session store.Session // the session of the last extension
}

// Every is the function [Every] for a lease. A replica without the lease also begins a round
// when another one's leases have ended.
func (l *Lease) Every(ctx context.Context, g *guard.Guard, what string, random Random, pause func() time.Duration, round func(context.Context)) {
	for ctx.Err() == nil {
		var fallen <-chan struct{}
		if l.Session != nil {
			fallen = l.Session.Fallen()
		}
		_ = g.Do(what, "", func() error { round(ctx); return nil }) // a panic was logged
		if l.held {
			fallen = nil
		}
		rest(ctx, random, pause(), fallen, l.Early)
	}
}

// Acquire takes or extends the lease. kept reports that no other replica can have had it since
// the last extension.
func (l *Lease) Acquire(ctx context.Context) (held, kept bool, err error) {
	l.held = false
	var session store.Session
	if l.Session != nil {
		if session, err = l.Session.Current(); err != nil {
			return false, false, fmt.Errorf("lease %s: %w", l.Name, err)
		}
	}
	asked := l.Clock.Now()
	held, err = l.Store.Acquire(ctx, l.Name, l.Owner, l.TTL)
	if err != nil {
		return false, false, fmt.Errorf("lease %s: %w", l.Name, err)
	}
	kept = held && asked.Before(l.until) && session == l.session
	if held {
		l.held, l.until, l.session = true, asked.Add(l.TTL), session
	}
	return held, kept, nil
}

// Hold extends the lease while fn runs under the guard. It ends fn's context when the lease is
// lost.
func (l *Lease) Hold(ctx context.Context, g *guard.Guard, what, item string, fn func(context.Context) error) error {
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	if l.Session != nil { // innermost: its Err is right at once
		bound, unbind := l.Session.Bound(ctx, l.session)
		defer unbind()
		ctx = bound
	}
	stopped := make(chan struct{})
	g.Spawn(nil, "lease "+l.Name, func() {
		defer close(stopped)
		if l.extend(ctx) != nil {
			cancel(ErrTaken)
		}
	})
	err := g.Do(what, item, func() error { return fn(ctx) })
	if cause := context.Cause(ctx); cause != nil && outer.Err() == nil {
		err = cause
	}
	cancel(nil)
	<-stopped
	return err
}

// Alone takes the lease, does fn as Hold does, and gives the lease back. It returns [ErrTaken]
// where another replica has the lease, or had it before fn ended.
func (l *Lease) Alone(ctx context.Context, g *guard.Guard, what, item string, fn func(context.Context) error) error {
	held, _, err := l.Acquire(ctx)
	if err != nil {
		return err
	}
	if !held {
		return ErrTaken
	}
	defer l.Release(ctx)
	return l.Hold(ctx, g, what, item, fn)
}

// extend keeps the lease until ctx ends. While the store does not answer, the lease is lost only
// when its time is over.
func (l *Lease) extend(ctx context.Context) error {
	tick := time.NewTicker(l.TTL / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		of := l.session
		if held, _, err := l.Acquire(ctx); err == nil && (!held || l.session != of) || l.Clock.Now().After(l.until) {
			return ErrTaken
		}
	}
}

// Release gives the lease back, so that another replica can go on at once. Where the store does
// not answer, the lease expires.
func (l *Lease) Release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	_ = l.Store.Release(ctx, l.Name, l.Owner)
}
