package bridge

import "runtime"

// headroom is what [Headroom] adds to the live heap.
const headroom = 16 << 20

// Headroom lets the process have up to 32 MiB more of garbage before it is
// collected, until end is called. What lives in a bridge of some repositories is a few
// MiB, so that by Go's usual measure its garbage would be collected several times a
// second under load: of a webhook's processor time that is a tenth (make bench). Who
// sets GOGC or GOMEMLIMIT in the environment decides that instead.
func Headroom(env func(string) (string, bool)) (end func()) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, decided := env(name); decided {
			return func() {}
		}
	}
	// The heap may double before it is collected, and this is part of it. No memory
	// stands behind its pages, since nothing touches them.
	ballast := make([]byte, headroom)
	return func() { runtime.KeepAlive(ballast) }
}
