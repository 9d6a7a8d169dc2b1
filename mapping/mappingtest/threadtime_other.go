//go:build !linux

package mappingtest

import "time"

var began = time.Now()

// threadTime is the time of the clock where a thread's own is not to be had.
func threadTime() time.Duration { return time.Since(began) }
