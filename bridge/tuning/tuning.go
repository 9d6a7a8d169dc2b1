// Package tuning sets Go's runtime for a process that runs the bridge. Its door is [Apply].
package tuning

import "runtime"

const (
	// headroom is what is added to the live heap.
	headroom = 16 << 20
	// leastAtOnce is how many goroutines run at once at the least.
	leastAtOnce = 4
)

// Apply sets Go's runtime for a process that runs the bridge, as far as its
// environment does not decide (GOGC and GOMEMLIMIT, GOMAXPROCS). The function it
// returns takes that back.
//
// Up to 32 MiB more of garbage may be before it is collected. What lives in a bridge
// of some repositories is a few MiB, so that by Go's usual measure its garbage would
// be collected dozens of times a second under load: of a webhook's processor time that
// is a tenth (make bench).
//
// Four goroutines run at once where there are fewer processors. The runtime looks
// at the network when nothing else is ready to run: with one goroutine for each of
// two processors an answer waits until what computes beside it is done. With more
// the kernel shares the processors out, and lets those who waited go first.
func Apply(env func(name string) (string, bool)) (restore func()) {
	set := func(name string) bool { _, ok := env(name); return ok }
	var ballast []byte
	if !set("GOGC") && !set("GOMEMLIMIT") {
		// The heap may double before it is collected, and this is part of it. No memory
		// stands behind its pages, since nothing touches them.
		ballast = make([]byte, headroom)
	}
	before := runtime.GOMAXPROCS(0)
	if !set("GOMAXPROCS") && before < leastAtOnce {
		runtime.GOMAXPROCS(leastAtOnce)
	}
	return func() {
		runtime.KeepAlive(ballast)
		if now := runtime.GOMAXPROCS(0); now != before {
			runtime.GOMAXPROCS(before)
		}
	}
}
