// Package guard keeps a panic from ending the process. What a loop takes up one by
// one (a card of a poll, an issue of a listing, a key of a job) is done under
// [Guard.Do]: where the program panics on one, that one is set aside and shown to the
// operator, and the loop goes on. Every goroutine of the bridge begins with
// [Guard.Spawn]. A nil Guard recovers, too, and remembers nothing.
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

// Panic is the error of what panicked.
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

// Panicked reports whether an error is of a panic, which was logged.
func Panicked(err error) bool {
	var p *Panic
	return errors.As(err, &p)
}

// Failure is an item on which the program panicked, and has not succeeded since.
type Failure struct {
	What, Item, Reason string
	Count              int       // of panics
	At                 time.Time // of the first one
}

const (
	// maxAside bounds the items that are remembered; the oldest give way.
	maxAside = 1000
	// maxLines bounds the lines with a stack in one lineWindow.
	maxLines   = 20
	lineWindow = time.Minute
)

// Guard remembers what was set aside. It is safe for concurrent use.
type Guard struct {
	log *slog.Logger

	any    atomic.Bool // something is set aside
	mu     sync.Mutex
	aside  map[name]*Failure
	lines  int       // since window
	window time.Time // when it began
}

type name struct{ what, item string }

// New returns a Guard that logs to log.
func New(log *slog.Logger) *Guard { return &Guard{log: log, aside: map[name]*Failure{}} }

// Do runs fn and turns a panic into a [Panic]. The item stands among the failures
// until fn returns for it, and is logged when it comes there.
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

// Report sets an item aside for an error that is its alone, as Do does for a panic, or
// ends that where err is nil.
func (g *Guard) Report(what, item string, err error) {
	if err == nil {
		g.done(name{what, item})
		return
	}
	g.setAside(name{what, item}, fmt.Sprintf("%s %s: %v", what, item, err), "")
}

// Spawn runs fn in a goroutine under the guard, which wg waits for; nil: nobody does.
func (g *Guard) Spawn(wg *sync.WaitGroup, what string, fn func()) {
	run := func() { _ = g.Do(what, "", func() error { fn(); return nil }) } // it was logged
	if wg != nil {
		wg.Go(run)
		return
	}
	go run()
}

// pause lies between a loop's panic and its next run.
const pause = time.Second

// Keep runs a loop until it returns, or ctx ends: after a panic it begins anew.
func (g *Guard) Keep(ctx context.Context, what string, loop func()) {
	for g.Do(what, "", func() error { loop(); return nil }) != nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// Failures lists what is set aside, the oldest first.
func (g *Guard) Failures() (out []Failure) {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.aside {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b Failure) int { return a.At.Compare(b.At) })
	return out
}

// Forget takes an item, named by what it is and the item behind a space, from the
// failures. It is told again if it panics again.
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
	delete(g.aside, n)
	g.any.Store(len(g.aside) > 0)
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

// note remembers a panic, and reports whether it is to be logged.
func (g *Guard) note(n name, reason string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.aside[n]; f != nil {
		f.Count++
		f.Reason = reason
		return false
	}
	now := time.Now()
	if len(g.aside) >= maxAside {
		g.dropOldest()
	}
	g.aside[n] = &Failure{What: n.what, Item: n.item, Reason: reason, Count: 1, At: now}
	g.any.Store(true)
	if now.Sub(g.window) >= lineWindow {
		g.window, g.lines = now, 0
	}
	g.lines++
	return g.lines <= maxLines
}

func (g *Guard) dropOldest() {
	var oldest name
	for n, f := range g.aside {
		if old := g.aside[oldest]; old == nil || f.At.Before(old.At) {
			oldest = n
		}
	}
	delete(g.aside, oldest)
}
