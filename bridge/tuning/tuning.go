// Package tuning sets Go's runtime for a process that runs the bridge. Its entry point is [Apply].
package tuning

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// leastGarbage is the least amount of garbage before a collection.
	leastGarbage = 32 << 20
	// leastPercent is its least share of the live heap.
	leastPercent = 50
	// mostPercent gives a small heap leastGarbage, as Go's smallest goal is 4 MiB at 100.
	mostPercent = 800
	// leastAtOnce is the least number of goroutines that run at once.
	leastAtOnce = 4
)

// Apply sets Go's runtime for a process that runs the bridge, unless its environment does (GOGC and
// GOMEMLIMIT, GOMAXPROCS). The returned function restores the earlier settings.
//
// A collection starts after 32 MiB of garbage, or half the live heap. A bridge of some repositories
// has a live heap of a few MiB. By Go's usual measure its garbage would be collected dozens of
// times a second under load. That is a tenth of a webhook's processor time (make bench). With
// 100,000 links the live heap is some 50 MiB, and Go's usual measure would allow as much garbage.
//
// Four goroutines run at once where there are fewer processors. The runtime polls the network when
// nothing else is ready to run. With one goroutine for each of two processors, an answer would wait
// until a computation beside it is done. With more goroutines the kernel shares the processors out,
// and waiting threads go first.
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

// pacer sets, after each collection, the amount of garbage before the next one.
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

// collected runs after a collection. It leaves an object behind, whose death in the next collection
// calls it again.
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

// percentOf is the allowed garbage in per cent of a live heap.
func percentOf(live uint64) int {
	return min(max(leastGarbage*100/int(max(live, 1)), leastPercent), mostPercent)
}
