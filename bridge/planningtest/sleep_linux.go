package planningtest

import (
	"syscall"
	"time"
)

// sleepUntil has the kernel wait, which is exact to a tenth of a millisecond.
func sleepUntil(at time.Time) {
	for d := time.Until(at); d > 0; d = time.Until(at) {
		ts := syscall.NsecToTimespec(d.Nanoseconds())
		_ = syscall.Nanosleep(&ts, nil) // a signal ends it early
	}
}
