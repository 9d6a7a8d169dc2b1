package planningtest

import (
	"time"

	"planbridge/bridge/nettest"
)

// coarse is the possible delay of a timer. The runtime waits for whole milliseconds where nothing
// else runs, and wakes the waiting goroutines together. So measurements would include both in the
// service's time.
const coarse = 1500 * time.Microsecond

// until waits for a moment, or for the server's end, and then reports false.
func (s *Server) until(at time.Time) bool {
	if _, sockets := s.network.(*nettest.Loopback); !sockets {
		return s.pause(time.Until(at), false, nil)
	}
	if !s.pause(time.Until(at)-coarse, false, nil) {
		return false
	}
	sleepUntil(at)
	return true
}
