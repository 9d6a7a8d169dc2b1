// Package session keeps this process's session in the store. Its entry point is [Keeper].
//
// The store ends the leases of a process without a heartbeat for ten seconds ([store.Sessions]).
// The process counts its session as ended two seconds earlier. It then claims nothing, begins no
// write and ends those under way, until a heartbeat begins another session. It thus stops before
// another process may continue with its keys. Requests that it sent before may still arrive, as
// after any crash.
package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"planbridge/bridge/factlog"
	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

const (
	// Interval is the time between two heartbeats.
	Interval = 2500 * time.Millisecond
	// Lasts is how long the store waits for the next heartbeat.
	Lasts = 10 * time.Second
	// Margin is how much earlier than the store the process counts its session as ended.
	Margin = 2 * time.Second
)

// ErrEnded: the session of a claim is over.
var ErrEnded = errors.New("the store was not heard from in time, and may have ended this process's leases")

// Queue learns when keys may be claimed again, and when some are due.
type Queue interface {
	Kick()
}

// Options configure a Keeper. All fields are required.
type Options struct {
	Store  store.Sessions
	Logger *slog.Logger
	Guard  *guard.Guard
	Queue  Queue
}

// Keeper keeps the session of this process. It is safe for concurrent use.
type Keeper struct {
	o       Options
	current atomic.Pointer[life] // nil: there is none
	failed  atomic.Value         // failure of the last heartbeat

	mu     sync.Mutex
	fallen chan struct{} // closed and replaced when another process's session fell
}

// New returns a Keeper, which has no session before [Keeper.During].
func New(o Options) *Keeper { return &Keeper{o: o, fallen: make(chan struct{})} }

// During keeps a session while work runs. Work begins with one where the store answers.
func (k *Keeper) During(ctx context.Context, work func()) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var beating sync.WaitGroup
	first := k.beat(ctx)
	k.o.Guard.Spawn(&beating, "end of sessions", func() { k.end(ctx, first) })
	k.o.Guard.Spawn(&beating, "session", func() {
		k.o.Guard.Keep(ctx, "session", func() { k.beats(ctx, &beating) })
	})
	defer func() {
		stop()
		beating.Wait()
		k.leave(ctx)
	}()
	work()
}

// leaveWithin bounds the request that ends the session.
const leaveWithin = 3 * time.Second

// leave ends the session, so that no process waits for it to fall.
func (k *Keeper) leave(ctx context.Context) {
	l := k.current.Swap(nil)
	if l == nil {
		return
	}
	l.finish()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	if _, err := k.o.Store.EndSessions(ctx, []store.Session{l.id}); err != nil {
		k.o.Logger.Debug("end of the session", "err", err) // it falls
	}
}

// Alive reports whether this process has a session.
func (k *Keeper) Alive() bool {
	l := k.current.Load()
	return l != nil && !l.ended()
}

// Current returns the session of this process, or an [ErrEnded].
func (k *Keeper) Current() (store.Session, error) {
	if l := k.current.Load(); l != nil && !l.ended() {
		return l.id, nil
	}
	return "", k.ended()
}

// failure has the error of a heartbeat.
type failure struct{ err error }

// ended returns [ErrEnded] with the last heartbeat's error.
func (k *Keeper) ended() error {
	if f, _ := k.failed.Load().(failure); f.err != nil {
		return fmt.Errorf("%w: %w", ErrEnded, f.err)
	}
	return ErrEnded
}

// Fallen returns a channel that is closed once this process learns that another one's session
// fell.
func (k *Keeper) Fallen() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fallen
}

// Bound returns a context that ends with the session s. A claim without a session ends at its own
// time. Err is right at once, even before a timer runs, as a stopped process may continue
// anywhere.
func (k *Keeper) Bound(ctx context.Context, s store.Session) (context.Context, context.CancelFunc) {
	if s == "" {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l := k.current.Load()
	if l == nil || l.id != s {
		cancel(k.ended())
		return ctx, func() {}
	}
	stop := context.AfterFunc(l.over, func() { cancel(k.ended()) })
	return &bound{ctx, k, l, cancel}, func() {
		stop()
		cancel(nil)
	}
}

// bound is a context that ends with a life.
type bound struct {
	context.Context
	keeper *Keeper
	life   *life
	cancel context.CancelCauseFunc
}

// Err implements [context.Context].
func (b *bound) Err() error {
	if b.life.ended() {
		b.cancel(b.keeper.ended())
	}
	return b.Context.Err()
}

// beats sends heartbeats until ctx ends.
func (k *Keeper) beats(ctx context.Context, spawned *sync.WaitGroup) {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if fallen := k.beat(ctx); len(fallen) > 0 {
			k.o.Guard.Spawn(spawned, "end of sessions", func() { k.end(ctx, fallen) })
		}
	}
}

// beat sends one heartbeat. It returns the sessions whose leases this process must end.
func (k *Keeper) beat(ctx context.Context) []store.Session {
	l := k.life()
	call, cancel := context.WithTimeout(ctx, Interval)
	defer cancel()
	asked := time.Now()
	fallen, err := k.o.Store.Heartbeat(call, l.id, Lasts)
	k.failed.Store(failure{err})
	if errors.Is(err, store.ErrLeaseLost) {
		l.finish()
	}
	if err != nil {
		level := slog.LevelDebug
		if errors.Is(err, store.ErrNoRoom) {
			level = slog.LevelError
		}
		k.o.Logger.Log(ctx, level, "heartbeat", "err", err)
		return nil
	}
	if l.extend(asked.Add(Lasts-Margin)) && k.current.Swap(l) != l {
		k.o.Logger.Info("session begun", "session", string(l.id))
		k.o.Queue.Kick()
	}
	return fallen
}

// life returns the current session, or a new one where that is over.
func (k *Keeper) life() *life {
	l := k.current.Load()
	if l != nil && !l.ended() {
		return l
	}
	if l != nil && k.current.CompareAndSwap(l, nil) {
		k.o.Logger.Warn("session ended: what was under way is handed back", "session", string(l.id), "err", k.ended(), factlog.Fact, factlog.StoreAway)
	}
	return newLife(store.Session(mapping.NewID()))
}

// end ends the leases of fallen sessions.
func (k *Keeper) end(ctx context.Context, fallen []store.Session) {
	if len(fallen) == 0 {
		return
	}
	k.mu.Lock()
	close(k.fallen) // named leases are free already
	k.fallen = make(chan struct{})
	k.mu.Unlock()
	keys, err := k.o.Store.EndSessions(ctx, fallen)
	if err != nil && ctx.Err() == nil {
		k.o.Logger.Warn("ending the leases of processes that are not heard of", "err", err)
	}
	if keys > 0 {
		k.o.Logger.Info("the keys of processes that are not heard of are due", "sessions", len(fallen), "keys", keys)
		k.o.Queue.Kick()
	}
}
