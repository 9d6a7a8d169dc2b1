package engine

import (
	"slices"
	"sync"

	"planbridge/mapping"
)

// limiter bounds the keys that are worked at once. A key holds a worker for as long as it is
// worked. It also holds a slot from its first call of a service until it returns to the store.
// Planning and GitHub thus get no more concurrent calls than there are slots. With more workers
// than slots, some keys are read, decided and stored while others call a service. A slot that
// becomes free then finds a key that is ready to write.
type limiter struct {
	workers chan struct{}

	mu        sync.Mutex
	free      int                      // free slots
	given     int                      // slots given to waiters so far
	lastGrant map[mapping.ObjectID]int // by project: the value of given when it last got a slot
	// first has the waiters that hold a worker. The list last has those that came back from a batch
	// without one. A batch returns a hundred at once, and live changes must not wait for those. In
	// both the first element waits longest.
	first, last []waiter
}

// waiter is a key that waits for a slot. Projects get slots in turn.
type waiter struct {
	project mapping.ObjectID
	granted chan struct{} // closed when the waiter gets a slot
}

func newLimiter(slots, beside int) *limiter {
	return &limiter{workers: make(chan struct{}, slots+beside), free: slots, lastGrant: map[mapping.ObjectID]int{}}
}

// firstShare is how many slots go to waiters with a worker before one goes to a waiter without.
// The lease of the latter runs too.
const firstShare = 3

// await waits for a slot. It reports false where over was closed first.
func (l *limiter) await(project mapping.ObjectID, workerless bool, over <-chan struct{}) bool {
	l.mu.Lock()
	if l.free > 0 {
		l.free--
		l.mu.Unlock()
		return true
	}
	w := waiter{project, make(chan struct{})}
	line := &l.first
	if workerless {
		line = &l.last
	}
	*line = append(*line, w)
	l.mu.Unlock()
	select {
	case <-w.granted:
		return true
	case <-over:
	}
	l.mu.Lock()
	i := slices.Index(*line, w)
	if i >= 0 {
		*line = slices.Delete(*line, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 { // give granted it at the same moment
		l.wakeNext()
	}
	return false
}

func (l *limiter) wakeNext() {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := &l.first
	if len(l.first) == 0 || len(l.last) > 0 && l.given%(firstShare+1) == firstShare {
		line = &l.last
	}
	if len(*line) == 0 {
		l.free++
		return
	}
	next := 0
	for i, w := range *line {
		if l.lastGrant[w.project] < l.lastGrant[(*line)[next].project] {
			next = i
		}
	}
	w := (*line)[next]
	l.given++
	l.lastGrant[w.project] = l.given
	close(w.granted)
	*line = slices.Delete(*line, next, next+1)
}

// slot is one key's part of the limiter: a worker, and a slot while it may call a service. A slot
// without a limiter is unbounded. Successive keys of one worker share it.
type slot struct {
	*limiter
	project mapping.ObjectID
	over    <-chan struct{} // closed when the key's time is over, which ends each wait

	mu                         sync.Mutex
	taken, yielded, workerless bool
	abandoned                  bool
}

// Acquire implements [Lease]. A key that yielded takes no slot.
func (s *slot) Acquire() {
	s.mu.Lock()
	wants, workerless := s.limiter != nil && !s.taken && !s.yielded && !s.abandoned, s.workerless
	s.mu.Unlock()
	if !wants || !s.await(s.project, workerless, s.over) {
		return
	}
	s.mu.Lock()
	stays := !s.abandoned
	s.taken = stays
	s.mu.Unlock()
	if !stays {
		s.wakeNext()
	}
}

// Release implements [Lease].
func (s *slot) Release() {
	s.mu.Lock()
	taken := s.taken
	s.taken = false
	s.mu.Unlock()
	if taken {
		s.wakeNext()
	}
}

// yield gives the slot and the worker of a key that waits to other keys. After resume the key
// goes on without a worker: other keys may hold all workers for long, and its lease runs.
func (s *slot) yield() {
	s.Release()
	s.releaseWorker()
	s.mu.Lock()
	s.yielded = true
	s.mu.Unlock()
}

func (s *slot) resume() {
	s.mu.Lock()
	s.yielded = false
	s.mu.Unlock()
}

// releaseWorker gives the worker to another key, once.
func (s *slot) releaseWorker() {
	s.mu.Lock()
	held := s.limiter != nil && !s.workerless
	s.workerless = true
	s.mu.Unlock()
	if held {
		<-s.workers
	}
}

// abandon gives slot and worker to others for good. The abandoned goroutine may still run as if
// it had both.
func (s *slot) abandon() {
	s.mu.Lock()
	s.abandoned = true
	s.mu.Unlock()
	s.Release()
	s.releaseWorker()
}
