package engine

import (
	"slices"
	"sync"

	"planbridge/mapping"
)

// limiter bounds what is worked at once. A key takes a hand for as long as it is worked
// and, beside it, a slot from its first call of a service until it is at the store again:
// planning and GitHub are to have no more of us at once than there are slots. With more
// hands than slots some keys are read, decided and stored while others are at a service,
// so that a slot which becomes free finds a key that is ready to be written.
type limiter struct {
	hands chan struct{}

	mu    sync.Mutex
	free  int                      // slots
	given int                      // to those who waited
	turn  map[mapping.ObjectID]int // by project: the last of given that it had
	// first has those who wait with a hand, last those who came back from a batch
	// without one. A batch returns a hundred at once, which are not to keep live changes
	// waiting. In both the longest waiter is the first.
	first, last []waiter
}

// waiter is a key that waits for a slot. Projects have theirs in turn.
type waiter struct {
	project mapping.ObjectID
	turn    chan struct{} // closed when it has one
}

func newLimiter(slots, beside int) *limiter {
	return &limiter{hands: make(chan struct{}, slots+beside), free: slots, turn: map[mapping.ObjectID]int{}}
}

// firstShare is how many slots of those that are waited for go to keys with a hand
// before one goes to a key that came back, whose lease runs.
const firstShare = 3

// take waits for a slot, and reports false where over came first.
func (l *limiter) take(project mapping.ObjectID, handless bool, over <-chan struct{}) bool {
	l.mu.Lock()
	if l.free > 0 {
		l.free--
		l.mu.Unlock()
		return true
	}
	turn := waiter{project, make(chan struct{})}
	line := &l.first
	if handless {
		line = &l.last
	}
	*line = append(*line, turn)
	l.mu.Unlock()
	select {
	case <-turn.turn:
		return true
	case <-over:
	}
	l.mu.Lock()
	i := slices.Index(*line, turn)
	if i >= 0 {
		*line = slices.Delete(*line, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 { // it was given at the same moment
		l.give()
	}
	return false
}

func (l *limiter) give() {
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
		if l.turn[w.project] < l.turn[(*line)[next].project] {
			next = i
		}
	}
	w := (*line)[next]
	l.given++
	l.turn[w.project] = l.given
	close(w.turn)
	*line = slices.Delete(*line, next, next+1)
}

// slot is what one key has of the limiter: a hand, and a place at the services while it may
// be at one. A slot without a limiter is bounded by nothing. Keys that are worked one after
// the other have it in turn.
type slot struct {
	*limiter
	project mapping.ObjectID
	over    <-chan struct{} // closed when the key's time is over: nothing is waited for then

	mu                    sync.Mutex
	taken, away, handless bool
	forsaken              bool
}

// begin gives the slot to a key that is worked until over is closed.
func (s *slot) begin(over <-chan struct{}) { s.over = over }

// Acquire implements [Lease]. A key that is away takes none.
func (s *slot) Acquire() {
	s.mu.Lock()
	wants, handless := s.limiter != nil && !s.taken && !s.away && !s.forsaken, s.handless
	s.mu.Unlock()
	if !wants || !s.take(s.project, handless, s.over) {
		return
	}
	s.mu.Lock()
	stays := !s.forsaken
	s.taken = stays
	s.mu.Unlock()
	if !stays {
		s.give()
	}
}

// Release implements [Lease].
func (s *slot) Release() {
	s.mu.Lock()
	taken := s.taken
	s.taken = false
	s.mu.Unlock()
	if taken {
		s.give()
	}
}

// leave gives the slot and the hand of a key that waits for something else to
// others. After back it goes on without a hand: those may be taken for as long as
// other keys are due, and its lease runs.
func (s *slot) leave() {
	s.Release()
	s.dropHand()
	s.mu.Lock()
	s.away = true
	s.mu.Unlock()
}

func (s *slot) back() {
	s.mu.Lock()
	s.away = false
	s.mu.Unlock()
}

// dropHand gives the hand to another key, once.
func (s *slot) dropHand() {
	s.mu.Lock()
	held := s.limiter != nil && !s.handless
	s.handless = true
	s.mu.Unlock()
	if held {
		<-s.hands
	}
}

// forsake gives slot and hand to others for good, though somebody may go on who
// believes to have them.
func (s *slot) forsake() {
	s.mu.Lock()
	s.forsaken = true
	s.mu.Unlock()
	s.Release()
	s.dropHand()
}
