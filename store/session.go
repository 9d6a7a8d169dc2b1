package store

import (
	"context"
	"time"
)

// Session names a live process in the store.
type Session string

// Sessions end the leases of a process that died, before their time. A process sends heartbeats.
// A process that was silent for too long loses its session, and another process ends the leases
// of its claims. Its named leases are free at once.
//
// A lease without a session ends at its own time. Such are leases of a process that sends no
// heartbeat, as earlier programs do, and of a store for one process alone. Such a store ends all
// leases when it is opened, and has no sessions.
type Sessions interface {
	// Heartbeat says that the session is alive. The session falls when the store gets no
	// heartbeat for lasts, by the store's clock. Later claims and named leases of this handle
	// belong to it. A session that fell does not come back: Heartbeat returns ErrLeaseLost, and
	// the process begins another one.
	//
	// The answer lists fallen sessions whose leases this process must end. Each session is given
	// to one process, and to another one where EndSessions does not follow within lasts. The
	// answer also lists claims of this handle whose answer was lost, as if they were fallen
	// sessions. No other process knows what they leased.
	Heartbeat(ctx context.Context, s Session, lasts time.Duration) (fallen []Session, err error)
	// EndSessions ends the leases of the sessions' claims in all projects and removes the
	// sessions. It returns how many keys are due thereby. It works in atomic steps, and repeating
	// it is harmless.
	EndSessions(ctx context.Context, over []Session) (keys int, err error)
}
