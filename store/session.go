package store

import (
	"context"
	"time"
)

// Session names a process in the store while that is alive.
type Session string

// Sessions end the leases of a process that died before their time. A process tells at
// intervals that it is alive. Its session falls when it was silent for too long, and any
// other process then ends the leases of its claims.
//
// A lease that belongs to no session ends at its own time: one of a process that never
// told its session, as earlier programs do, or of a store that one process alone can
// have. Such a store ends all leases when it is opened, and knows no sessions.
type Sessions interface {
	// Heartbeat says that the session is alive: it falls when it is not heard of for
	// lasts, by the store's clock. What this handle claims from now on belongs to it. A
	// session that fell does not come back: ErrLeaseLost. The process begins another.
	//
	// The answer names sessions that fell and whose leases this process is to end. Each
	// is named to one process. It is named to another one where EndSessions was not
	// called within lasts. A claim of this handle whose answer was lost is named, too, as
	// if it were a session that fell: nobody else knows what it leased.
	Heartbeat(ctx context.Context, s Session, lasts time.Duration) (fallen []Session, err error)
	// EndSessions ends the leases of the sessions' claims in all projects and forgets the
	// sessions. It returns how many keys are due by that. It goes in steps, each atomic;
	// repeating it is harmless.
	EndSessions(ctx context.Context, over []Session) (keys int, err error)
}
