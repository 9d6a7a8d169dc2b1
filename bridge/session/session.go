// Package session keeps this process's session in the store. Its door is [Keeper].
//
// The store ends the leases of a process that it did not hear from for ten seconds
// ([store.Sessions]). The process itself counts its session as ended two seconds before
// that: it then claims nothing, begins no write and ends those that are under way, until
// a heartbeat begins another session. One process thus stops before another one may go on
// with its keys. What had left it by then may still arrive, as after any crash.
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
	// Interval lies between two heartbeats.
	Interval = 2500 * time.Millisecond
	// Lasts is how long the store waits for the next heartbeat.
	Lasts = 10 * time.Second
	// Margin is how long before the store the process counts its session as ended.
	Margin = 2 * time.Second
)

// ErrEnded: the session that a claim belongs to is over.
var ErrEnded = errors.New("the store was not heard from in time, and may have ended this process's leases")

// Queue is told when keys may be claimed again, and when some are due.
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
	failed  atomic.Value         // error of the last heartbeat, as failure

	mu     sync.Mutex
	fallen chan struct{} // closed, and then another one, when another process's session fell
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

// leaveWithin bounds how long the store is told that the session is over.
const leaveWithin = 3 * time.Second

// leave ends the session, so that nobody waits for it to fall.
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

// Current names the session of this process; an [ErrEnded]: it has none.
func (k *Keeper) Current() (store.Session, error) {
	if l := k.current.Load(); l != nil && !l.ended() {
		return l.id, nil
	}
	return "", k.ended()
}

// failure is how a heartbeat failed.
type failure struct{ err error }

// ended is [ErrEnded] with what the last heartbeat met.
func (k *Keeper) ended() error {
	if f, _ := k.failed.Load().(failure); f.err != nil {
		return fmt.Errorf("%w: %w", ErrEnded, f.err)
	}
	return ErrEnded
}

// Fallen is closed once this process hears that the session of another one fell.
func (k *Keeper) Fallen() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fallen
}

// Bound returns a context that ends with the session s; a claim without a session is
// bound by its own time. Its Err tells at once that the time is over, though no timer ran
// yet: a process that was stopped goes on wherever it was.
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

// beats tells at intervals that the process is alive, until ctx ends.
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

// beat tells once, and returns the sessions that this process is to end.
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
	k.o.Logger.Info("the store takes writes again", factlog.Over, factlog.StoreFull)
	if l.extend(asked.Add(Lasts-Margin)) && k.current.Swap(l) != l {
		k.o.Logger.Info("session begun", "session", string(l.id))
		k.o.Queue.Kick()
	}
	return fallen
}

// life is the current session, or another one where that is over.
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

// end ends the leases of sessions that fell.
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
