// Package guard stops a panic from ending the process. A loop handles each item (a card of a
// poll, an issue of a listing, a key of a job) under [Guard.Do]. An item on which the program
// panics is skipped and shown to the operator, and the loop goes on. Every goroutine of the
// bridge begins with [Guard.Spawn]. A nil Guard recovers, too, and remembers nothing.
package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Panic is the error of a panic.
type Panic struct {
	What, Item string
	Value      any
}

func (p *Panic) Error() string {
	if p.Item == "" {
		return fmt.Sprintf("%s: panic: %v", p.What, p.Value)
	}
	return fmt.Sprintf("%s %s: panic: %v", p.What, p.Item, p.Value)
}

// Panicked reports whether an error comes from a panic, which was logged.
func Panicked(err error) bool {
	var p *Panic
	return errors.As(err, &p)
}

// Failure is an item on which the program panicked and has not succeeded since.
type Failure struct {
	What, Item, Reason string
	Count              int       // number of panics
	At                 time.Time // when the first one happened
}

const (
	// maxFailures bounds the remembered items; the oldest are dropped.
	maxFailures = 1000
	// maxLines bounds the lines with a stack in one lineWindow.
	maxLines   = 20
	lineWindow = time.Minute
)

// Guard remembers the failed items. It is safe for concurrent use.
type Guard struct {
	log *slog.Logger

	any      atomic.Bool // some item has failed
	mu       sync.Mutex
	failures map[name]*Failure
	lines    int       // since window
	window   time.Time // when the window began
}

type name struct{ what, item string }

// New returns a Guard that logs to log.
func New(log *slog.Logger) *Guard { return &Guard{log: log, failures: map[name]*Failure{}} }

// Do runs fn and turns a panic into a [Panic]. It logs a new failure of the item. The item stays
// a failure until fn returns for it.
func (g *Guard) Do(what, item string, fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Panic{what, item, p}
			g.setAside(name{what, item}, err.Error(), string(debug.Stack()))
			return
		}
		g.done(name{what, item})
	}()
	return fn()
}

// Report makes an item a failure for an error of its own, as Do does for a panic. A nil err ends
// the failure.
func (g *Guard) Report(what, item string, err error) {
	if err == nil {
		g.done(name{what, item})
		return
	}
	g.setAside(name{what, item}, fmt.Sprintf("%s %s: %v", what, item, err), "")
}

// Spawn runs fn in a goroutine under the guard. wg waits for it, unless nil.
func (g *Guard) Spawn(wg *sync.WaitGroup, what string, fn func()) {
	run := func() { _ = g.Do(what, "", func() error { fn(); return nil }) } // Do logged it
	if wg != nil {
		wg.Go(run)
		return
	}
	go run()
}

// pause is the time between a loop's panic and its restart.
const pause = time.Second

// Keep runs a loop until it returns or ctx ends, and restarts it after a panic.
func (g *Guard) Keep(ctx context.Context, what string, loop func()) {
	for g.Do(what, "", func() error { loop(); return nil }) != nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// Failures lists the failed items, the oldest first.
func (g *Guard) Failures() (out []Failure) {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.failures {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b Failure) int { return a.At.Compare(b.At) })
	return out
}

// Forget removes an item from the failures; named is its kind, a space, and the item. Another
// panic on it is logged again.
func (g *Guard) Forget(named string) {
	for _, f := range g.Failures() {
		if f.What+" "+f.Item == named {
			g.done(name{f.What, f.Item})
		}
	}
}

func (g *Guard) done(n name) {
	if g == nil || !g.any.Load() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.failures, n)
	g.any.Store(len(g.failures) > 0)
}

func (g *Guard) setAside(n name, reason, stack string) {
	if g == nil {
		slog.Error("set aside", "what", n.what, "item", n.item, "err", reason, "stack", stack)
		return
	}
	if g.note(n, reason) {
		g.log.Error("set aside", "what", n.what, "item", n.item, "err", reason, "stack", stack)
	}
}

// note records a panic, and reports whether it must be logged.
func (g *Guard) note(n name, reason string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.failures[n]; f != nil {
		f.Count++
		f.Reason = reason
		return false
	}
	now := time.Now()
	if len(g.failures) >= maxFailures {
		g.dropOldest()
	}
	g.failures[n] = &Failure{What: n.what, Item: n.item, Reason: reason, Count: 1, At: now}
	g.any.Store(true)
	if now.Sub(g.window) >= lineWindow {
		g.window, g.lines = now, 0
	}
	g.lines++
	return g.lines <= maxLines
}

func (g *Guard) dropOldest() {
	var oldest name
	for n, f := range g.failures {
		if old := g.failures[oldest]; old == nil || f.At.Before(old.At) {
			oldest = n
		}
	}
	delete(g.failures, oldest)
}
