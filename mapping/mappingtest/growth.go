package mappingtest

import (
	"runtime"
	"testing"
	"time"
)

// Growth fails a test where work is not linear in its size. It allows ten times the processor time
// for four times the size; quadratic work takes sixteen times. It measures the thread's own time,
// whatever the load of the machine, and takes the least of several runs.
//
// The size has to be large enough to show too much work: at least a KiB of a text.
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
