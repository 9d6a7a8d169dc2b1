// Package engine works the queue. It claims a key, hands it to a core, and finishes the
// claim with what the core returns.
//
// Its door is [New] and [Engine.Run], which works until its context ends. The engine owns
// concurrency, leases, deadlines, attempts, pauses and batches, and the metrics and the log
// of what became of a key. What has to be done on the two sides is the [Core]'s: the
// engine looks into a link only for its route and for how often it was put off.
//
// The package imports reconcile for the terms in which a core is spoken to
// ([reconcile.Result], [reconcile.Rest]). Reconcile never imports it, so that the core can be
// run without the shell.
//
// The files, in the order of a key's way: worker.go (claiming, one project after the
// other), suspect.go (keys that end the process, or do not end), work.go (a claim from its
// begin to its end), turns.go (which project is served next), terms.go and lease.go (what
// the core's shell asks for meanwhile), limiter.go (how many are worked and how many are at
// a service), batches.go (what keys do together), verdict.go
// (what becomes of a key).
package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Core works the keys that the engine claims. It is safe for concurrent use.
type Core interface {
	// Work works a claimed key to its end, which is before ctx ends.
	Work(ctx context.Context, claim *store.Claim, lease Lease) reconcile.Result
	// Refused says how a key comes to rest whose result the store did not take. nil: the
	// link was made smaller and may be stored.
	Refused(claim *store.Claim, link *mapping.Link, err error) *reconcile.Rest
	// CutOff notes in a link that what was sent for it may take effect until now.
	CutOff(link *mapping.Link, now time.Time)
	// Log returns what the lines about a claimed key are logged with.
	Log(claim *store.Claim) *slog.Logger
}

// Host is the program that the engine runs in. It is safe for concurrent use.
type Host interface {
	// Projects are those whose queues are worked, and Retry bounds the attempts; a reload
	// may change both.
	Projects() []mapping.ObjectID
	Retry() Retry
	// Waits is told what a key now waits for: it may have come meanwhile.
	Waits(ctx context.Context, project mapping.ObjectID, service string)
}

// Retry bounds what is tried again.
type Retry struct {
	MaxAttempts int
	MaxInterval time.Duration
}

// Session is this process's in the store, which ends a process's leases when it does not
// hear from it.
type Session interface {
	// Alive reports whether the process has one. Without one it claims nothing.
	Alive() bool
	// Bound returns a context that ends with the session of a claim. Its Err tells so at
	// once, whether or not anything else ran since.
	Bound(ctx context.Context, s store.Session) (context.Context, context.CancelFunc)
}

// Clock tells the time, and draws what spreads the attempts, in [0, n). It is safe for
// concurrent use.
type Clock interface {
	Now() time.Time
	Int64N(n int64) int64
}

// Observer is told what was done.
type Observer interface {
	// Did is called with what was done to a link, once the store has it.
	Did(link *mapping.Link, history []mapping.Entry)
}

// noSession is that of a process that has none.
type noSession struct{}

func (noSession) Alive() bool { return true }

func (noSession) Bound(ctx context.Context, _ store.Session) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// Options configure an Engine. Core, Host, Store and Logger are required.
type Options struct {
	Core    Core
	Host    Host
	Store   store.Store
	Session Session // nil: claims end with their leases alone
	Logger  *slog.Logger
	Metrics *Metrics
	Guard   *guard.Guard // sets aside what the program panics on; nil: nothing is remembered of it

	Concurrency  int           // keys that may be at a service at once; 0: one
	StoreWorkers int           // keys worked beside them, while the store is asked; 0: none
	LeaseTTL     time.Duration // 0: a minute
	Clock        Clock         // nil: the runtime's
	Observer     Observer      // nil: nobody is told
}

// Engine works the queue. It is safe for concurrent use.
type Engine struct {
	Options
	kick      chan struct{}
	turns     *turns
	working   sync.Map // the keys that are worked: store.Key
	isolation isolation
	batches   *batches
}

// New returns an Engine; nothing runs until Run.
func New(o Options) *Engine {
	if o.Session == nil {
		o.Session = noSession{}
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
	if o.LeaseTTL == 0 {
		o.LeaseTTL = time.Minute
	}
	if o.Clock == nil {
		o.Clock = clock.Clock{}
	}
	return &Engine{Options: o, kick: make(chan struct{}, 1), turns: newTurns(), batches: newBatches(o.Store, o.Clock, o.Guard)}
}

// Kick makes the workers look at the queue at once: something became due.
func (e *Engine) Kick() {
	select {
	case e.kick <- struct{}{}:
	default:
	}
}

// Due makes the workers look at a project's queue at once: something of it became due.
func (e *Engine) Due(project mapping.ObjectID) {
	e.turns.expect(project, e.Clock.Now())
	e.Kick()
}

// InHand is how many keys this process works at the moment; those that wait for a later
// look are none of them.
func (e *Engine) InHand() int {
	all, _ := e.turns.count("")
	return all
}

// Works reports whether this process works a key at the moment.
func (e *Engine) Works(key store.Key) bool {
	_, yes := e.working.Load(key)
	return yes
}
