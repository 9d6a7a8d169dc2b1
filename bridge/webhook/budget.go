package webhook

import (
	"context"
	"errors"
	"sync"
)

// maxUnverified bounds the memory, in bytes over all connections, of bodies with an unverified
// signature.
const maxUnverified = 64 << 20

// errShed ends the reading of a body that others need room for.
var errShed = errors.New("too many unverified bytes are in flight")

// budget bounds the memory of unverified bodies over all connections. Where it is used up, it
// sheds the largest body. A flood of large bodies thus costs large bodies, and a slow body holds
// only the bytes that it has sent. A small body is shed last. It is safe for concurrent use.
type budget struct {
	limit int

	mu     sync.Mutex
	used   int // bytes of all bodies
	ending int // bytes of shed bodies that are not yet returned
	bodies map[*share]struct{}
	freed  chan struct{} // closed when bytes are returned
	order  uint64        // of the newest share
}

// share is one body's part of the budget.
type share struct {
	size  int
	order uint64        // older ones are lower
	shed  chan struct{} // closed when the body must end
	gone  bool          // shed is closed
	abort func()        // ends a waiting read
}

func newBudget(limit int) *budget {
	return &budget{limit: limit, bodies: map[*share]struct{}{}, freed: make(chan struct{})}
}

// begin returns the share of a new body. It calls abort at most once, and not after end.
func (b *budget) begin(abort func()) *share {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.order++
	s := &share{order: b.order, shed: make(chan struct{}), abort: abort}
	b.bodies[s] = struct{}{}
	return s
}

// grow adds n bytes to a share. Where there is no room, it sheds the largest body and waits until
// that has ended. errShed says that this body is the largest.
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

// tryGrow is one attempt of grow. It returns a nil wait when the attempt is decided.
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

// largest returns the largest body, the oldest of equal ones. The caller holds b.mu.
func (b *budget) largest() (found *share) {
	for s := range b.bodies {
		if !s.gone && (found == nil || s.size > found.size || s.size == found.size && s.order < found.order) {
			found = s
		}
	}
	return found
}

// end returns a share's bytes.
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
