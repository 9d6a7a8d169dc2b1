// Package tuning sets Go's runtime for a process that runs the bridge. Its door is [Apply].
package tuning

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// leastGarbage is how much garbage may be at the least before it is collected.
	leastGarbage = 32 << 20
	// leastPercent is what it may be of the live heap.
	leastPercent = 50
	// mostPercent gives a small heap leastGarbage: Go's smallest goal is 4 MiB at 100.
	mostPercent = 800
	// leastAtOnce is how many goroutines run at once at the least.
	leastAtOnce = 4
)

// Apply sets Go's runtime for a process that runs the bridge, as far as its
// environment does not decide (GOGC and GOMEMLIMIT, GOMAXPROCS). The function it
// returns takes that back.
//
// Garbage of 32 MiB, or of half the live heap, may be before it is collected. What lives
// in a bridge of some repositories is a few MiB, so that by Go's usual measure its garbage
// would be collected dozens of times a second under load: of a webhook's processor time
// that is a tenth (make bench). With 100,000 links some 50 MiB live, and by Go's usual
// measure as much garbage would stand beside them.
//
// Four goroutines run at once where there are fewer processors. The runtime looks
// at the network when nothing else is ready to run: with one goroutine for each of
// two processors an answer waits until what computes beside it is done. With more
// the kernel shares the processors out, and lets those who waited go first.
func Apply(env func(name string) (string, bool)) (restore func()) {
	set := func(name string) bool { _, ok := env(name); return ok }
	stop := func() {}
	if !set("GOGC") && !set("GOMEMLIMIT") {
		stop = new(pacer).start()
	}
	before := runtime.GOMAXPROCS(0)
	if !set("GOMAXPROCS") && before < leastAtOnce {
		runtime.GOMAXPROCS(leastAtOnce)
	}
	return func() {
		stop()
		if now := runtime.GOMAXPROCS(0); now != before {
			runtime.GOMAXPROCS(before)
		}
	}
}

// pacer sets after each collection how much garbage the next one waits for.
type pacer struct {
	mu      sync.Mutex
	stopped bool
	percent int
}

func (p *pacer) start() (stop func()) {
	before := debug.SetGCPercent(100)
	p.collected()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stopped = true
		debug.SetGCPercent(before)
	}
}

// collected follows a collection. What it leaves behind is found dead by the next one, which
// is how the runtime tells of that.
func (p *pacer) collected() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if percent := percentOf(live[0].Value.Uint64()); percent != p.percent {
		debug.SetGCPercent(percent)
		p.percent = percent
	}
	runtime.AddCleanup(new(*pacer), (*pacer).collected, p)
}

// percentOf is how much garbage may be, in per cent of a live heap.
func percentOf(live uint64) int {
	return min(max(leastGarbage*100/int(max(live, 1)), leastPercent), mostPercent)
}
