// Package engine works the queue. It claims a key, hands it to a core, and finishes the claim
// with the core's result.
//
// Its entry points are [New] and [Engine.Run], which works until its context ends. The engine
// owns concurrency, leases, deadlines, attempts, pauses and batches. It writes the metrics and
// the log line about the outcome of each key. The [Core] does the work on both sides. The engine
// reads only two facts of a link: its route, and how often it was put off.
//
// The package imports reconcile for the types that a core speaks ([reconcile.Result],
// [reconcile.Rest]). Reconcile never imports it, so that the core can run without the engine.
//
// The files, in the order in which a key passes them:
//
//   - worker.go claims keys, one project after the other.
//   - suspect.go isolates keys that end the process or never end.
//   - work.go takes a claim from its begin to its end.
//   - turns.go selects the project that is served next.
//   - terms.go has what the engine and those around it ask of each other. lease.go has what the
//     core may ask for during the work.
//   - limiter.go bounds the keys that are worked and those that are at a service.
//   - batches.go lets keys act together.
//   - verdict.go decides the outcome of a key.
package engine

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// Options configure an Engine.
type Options struct {
	Core     Core
	Host     Host
	Store    store.Store
	Session  Session
	Logger   *slog.Logger
	Metrics  *Metrics
	Clock    clock.Source
	Observer Observer
	Guard    *guard.Guard // it handles panics; nil: panics are not recorded

	Concurrency  int           // keys that may call a service at once; 0: one
	StoreWorkers int           // further keys that may be worked meanwhile at the store; 0: none
	LeaseTTL     time.Duration // 0: a minute
}

// Engine works the queue. It is safe for concurrent use.
type Engine struct {
	Options
	kick      chan struct{}
	turns     *turns
	working   sync.Map // the keys under way: store.Key
	isolation isolation
	batches   *batches
}

// isolation is the process's record of suspects and of keys under way.
type isolation struct {
	suspect  atomic.Bool // true while a suspect is worked
	underWay sync.Map    // store.Key to time.Time: when its goroutine began
}

// New returns an Engine. Nothing runs until Run.
func New(o Options) *Engine {
	if o.LeaseTTL == 0 {
		o.LeaseTTL = time.Minute
	}
	return &Engine{Options: o, kick: make(chan struct{}, 1), turns: newTurns(), batches: newBatches(o.Store, o.Clock, o.Guard)}
}

// idlePoll is how often the workers ask the queue without a kick: other replicas make keys due
// without telling this one.
const idlePoll = time.Second

// Kick makes the workers claim again at once, since a key became due.
func (e *Engine) Kick() {
	select {
	case e.kick <- struct{}{}:
	default:
	}
}

// Due makes the workers claim from a project at once, since a key of it became due.
func (e *Engine) Due(project mapping.ObjectID) {
	e.turns.expect(project, e.Clock.Now())
	e.Kick()
}

// InHand returns how many keys this process works now. Keys that were put off do not count.
func (e *Engine) InHand() int {
	all, _ := e.turns.count("")
	return all
}

// Works reports whether this process works a key now.
func (e *Engine) Works(key store.Key) bool {
	_, yes := e.working.Load(key)
	return yes
}
