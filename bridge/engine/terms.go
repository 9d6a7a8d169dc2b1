package engine

import (
	"context"
	"errors"
	"time"

	"planbridge/mapping"
)

// Lease is what the engine does for a key while it is worked: it owns the lease, the
// slots at the services and the batches. The core starts no goroutine itself.
type Lease interface {
	// Acquire waits for a slot at the services, unless the key has one. Release gives
	// the slot to another key.
	Acquire()
	Release()
	// Save stores the link under the lease. It fails with store.ErrLeaseLost once the
	// lease is over.
	Save(ctx context.Context, link *mapping.Link) error
	// Writing acquires a slot, and returns the context of one external write. The
	// context ends well before the lease does. An error says that too little time is left.
	Writing(ctx context.Context) (context.Context, context.CancelFunc, error)
	// Yield lets other keys be worked, until resume is called. Where too many keys wait
	// for others already, resume is nil, and the key comes again after retry.
	Yield() (resume func(), retry time.Duration)
	// Crowded reports whether so many keys are worked by this process that what they ask for
	// at the same time is worth asking for together.
	Crowded() bool
	// Join waits until the batch was done for the member and those who joined besides.
	// ErrNotTaken says that the time ended before it began. After any other error nobody
	// knows how far it came.
	Join(ctx context.Context, b Batch, member any) error
}

// Batch is what keys that are worked at the same time do together.
type Batch struct {
	Project mapping.ObjectID // further keys of this project are waited for
	Name    string           // tells the batch from others of the project
	Most    int              // members at most; 0: as many as come
	// Brief: further keys are waited for as long as one comes soon after the other, for a
	// moment at most, however many are due.
	Brief bool
	// Write: it ends before the time of any member does.
	Write bool
	// Turn: one such batch of the project is done at a time.
	Turn bool
	// Act does it and leaves each member its result. Its context is that of a member.
	Act func(ctx context.Context, members []any)
}

// crowd is how many keys are worked before one more is crowded.
const crowd = 10

// ErrNotTaken is the error of a member for which nothing was done yet.
var ErrNotTaken = errors.New("nothing was done yet")

// writeMargin is kept, of a lease of half a minute or more, between the end of the last
// external write and the end of the lease: whoever takes the key over finds no write of
// ours under way.
const writeMargin = 5 * time.Second

// LeaseMargin is the part of a lease in which nothing is written any more.
func LeaseMargin(ttl time.Duration) time.Duration { return min(writeMargin, ttl/6) }
