package webhook

import (
	"context"
	"errors"
	"sync"
)

// maxUnverified bounds, in bytes, what all connections together hold of bodies
// whose signature has not been verified yet.
const maxUnverified = 64 << 20

// errShed ends the reading of a body whose memory others need.
var errShed = errors.New("too many unverified bytes are in flight")

// budget bounds the memory of unverified bodies over all connections. Where it is
// used up, the largest body is shed to make room: a flood of large bodies costs
// large bodies, and a body that trickles in holds no more than it has sent. A small
// body is shed last. It is safe for concurrent use.
type budget struct {
	limit int

	mu     sync.Mutex
	used   int // by all of bodies
	ending int // by those of them that are shed and have not returned theirs yet
	bodies map[*share]struct{}
	freed  chan struct{} // closed when something is returned
	order  uint64        // of the newest share
}

// share is what one body has of the budget.
type share struct {
	size  int
	order uint64        // older ones are lower
	shed  chan struct{} // closed when the body has to go
	gone  bool          // shed is closed
	abort func()        // ends a read that waits
}

func newBudget(limit int) *budget {
	return &budget{limit: limit, bodies: map[*share]struct{}{}, freed: make(chan struct{})}
}

// begin returns the share of a body that is about to be read. Its abort is called at
// most once, and not after end.
func (b *budget) begin(abort func()) *share {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.order++
	s := &share{order: b.order, shed: make(chan struct{}), abort: abort}
	b.bodies[s] = struct{}{}
	return s
}

// grow adds n bytes to a share. Where there is no room it has the largest body shed and
// waits until that has gone; errShed says that the body itself is the one.
func (b *budget) grow(ctx context.Context, s *share, n int) error {
	for {
		wait, err := b.tryGrow(s, n)
		if wait == nil {
			return err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryGrow is one attempt of grow. wait is nil where that is decided.
func (b *budget) tryGrow(s *share, n int) (wait chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case s.gone:
		return nil, errShed
	case b.used+n <= b.limit:
		b.used += n
		s.size += n
		return nil, nil
	}
	for b.used-b.ending+n > b.limit {
		largest := b.largest()
		if largest == s {
			return nil, errShed
		}
		largest.gone = true
		b.ending += largest.size
		close(largest.shed)
		largest.abort()
	}
	return b.freed, nil
}

// largest is called with b.mu held. Of equal bodies it is the oldest.
func (b *budget) largest() (found *share) {
	for s := range b.bodies {
		if !s.gone && (found == nil || s.size > found.size || s.size == found.size && s.order < found.order) {
			found = s
		}
	}
	return found
}

// end returns a share.
func (b *budget) end(s *share) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, held := b.bodies[s]; !held {
		return
	}
	delete(b.bodies, s)
	b.used -= s.size
	if s.gone {
		b.ending -= s.size
	}
	if s.size > 0 {
		close(b.freed)
		b.freed = make(chan struct{})
	}
}
