package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Core works the keys that the engine claims. It is safe for concurrent use.
type Core interface {
	// Work works a claimed key to its end, before ctx ends.
	Work(ctx context.Context, claim *store.Claim, lease Lease) reconcile.Result
	// Refused returns how a key comes to rest after the store refused its result. It returns nil
	// where it made the link smaller, so that the store may take it.
	Refused(claim *store.Claim, link *mapping.Link, err error) *reconcile.Rest
	// CutOff notes in a link that requests sent for it may take effect until now.
	CutOff(link *mapping.Link, now time.Time)
	// Log returns the logger for lines about a claimed key.
	Log(claim *store.Claim) *slog.Logger
}

// Host is the program around the engine. It is safe for concurrent use.
type Host interface {
	// Projects returns the projects whose queues are worked. Retry bounds the attempts. A reload
	// may change both.
	Projects() []mapping.ObjectID
	Retry() Retry
	// Waits reports that a key now waits for a service. The host checks whether the service came
	// back meanwhile.
	Waits(ctx context.Context, project mapping.ObjectID, service string)
}

// Retry bounds the attempts of a key.
type Retry struct {
	MaxAttempts int
	MaxInterval time.Duration
}

// Session is this process's session in the store. The store ends a process's leases when the
// process stops renewing its session.
type Session interface {
	// Alive reports whether the process has a session. Without one it claims nothing.
	Alive() bool
	// Bound returns a context that ends with the session of a claim. Its Err is right at once,
	// whether or not another goroutine ran since.
	Bound(ctx context.Context, s store.Session) (context.Context, context.CancelFunc)
}

// Observer receives the history of each finished key.
type Observer interface {
	// Did is called with a link and its new history, once the store has both.
	Did(link *mapping.Link, history []mapping.Entry)
}

// Lease is the engine's interface for the core while it works a key. The engine owns the lease, the
// slots and the batches. The core starts no goroutine.
type Lease interface {
	// Acquire waits for a slot at the services, unless the key holds one. Release gives the slot
	// to another key.
	Acquire()
	Release()
	// Save stores the link under the lease. It fails with store.ErrLeaseLost once the lease is
	// over.
	Save(ctx context.Context, link *mapping.Link) error
	// Writing acquires a slot and returns the context of one external write. The context ends
	// well before the lease. It fails where too little time is left.
	Writing(ctx context.Context) (context.Context, context.CancelFunc, error)
	// Yield lets other keys be worked until resume is called. Where too many keys wait already,
	// resume is nil, and the key must come again after retry.
	Yield() (resume func(), retry time.Duration)
	// Crowded reports whether this process works enough keys at once that joining a batch pays.
	Crowded() bool
	// Join waits until the batch was done for all its members. ErrNotTaken says that the time
	// ended before the batch began. After any other error its progress is unknown.
	Join(ctx context.Context, b Batch, member any) error
}

// Batch is one act for several keys that are worked at the same time.
type Batch struct {
	Project mapping.ObjectID // the batch waits for further keys of this project
	Name    string           // distinguishes batches of one project
	Most    int              // bound on the members; 0: the engine's
	// Brief: the batch waits only while keys join in quick succession, and only for a moment. It
	// ignores how many keys are due.
	Brief bool
	// Write: the batch ends before the deadline of each member.
	Write bool
	// Turn: the project's batches with Turn act one at a time.
	Turn bool
	// Act acts for all members and leaves each its result. Its context is that of a member.
	Act func(ctx context.Context, members []any)
}

// crowd is how many keys must be under way before another one is crowded.
const crowd = 10

// ErrNotTaken is the error of a member whose batch did not begin.
var ErrNotTaken = errors.New("nothing was done yet")

// writeMargin is the time between the last external write and the end of a lease of half a minute
// or more. The next owner of the key then finds none of our writes under way.
const writeMargin = 5 * time.Second

// LeaseMargin returns the last part of a lease, in which nothing is written.
func LeaseMargin(ttl time.Duration) time.Duration { return min(writeMargin, ttl/6) }
