package mappingtest

import (
	"runtime"
	"testing"
	"time"
)

// Growth fails a test where work is not linear in its size: where four times
// the size costs more than ten times the processor time. Quadratic work costs
// sixteen times as much. The thread's own time is measured, so that a loaded
// machine does not count, and the least of several runs.
//
// The size has to be one for which too much work shows: a KiB of a text at least.
func Growth(t testing.TB, what string, size int, work func(size int)) {
	t.Helper()
	const noise = time.Millisecond
	var small, large time.Duration
	for runs := 1; runs <= 4; runs++ {
		small, large = leastTime(runs, size, work), leastTime(runs, 4*size, work)
		if large <= 10*small+noise {
			return
		}
	}
	t.Errorf("%s is not linear: size %d takes %s, size %d %s", what, size, small, 4*size, large)
}

func leastTime(runs, size int, work func(size int)) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Duration(-1)
	for range runs {
		began := threadTime()
		work(size)
		if took := threadTime() - began; least < 0 || took < least {
			least = took
		}
	}
	return least
}
