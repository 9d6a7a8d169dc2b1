//go:build !linux

package mappingtest

import "time"

var began = time.Now()

// threadTime is the time of the clock, as this system does not report a thread's own.
func threadTime() time.Duration { return time.Since(began) }
