package planningtest

import (
	"time"

	"planbridge/bridge/nettest"
)

// coarse is by how much a timer may be late: the runtime waits for whole
// milliseconds where nothing else is to be done, and those who wait are woken
// together. Measurements tell both from a service that takes so long.
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
