package reconcile

import (
	"runtime"
	"slices"
	"sync"
)

// seats bound what is worked at once. A key takes a hand for as long as it is
// worked and, beside it, a seat from its first call of a service until it is at the
// store again: planning and GitHub are to have so many of us at once and no more.
// With more hands than seats some keys are read, decided and stored while others are
// at a service, so that a seat which becomes free finds a key that is ready to be
// written.
type seats struct {
	hands chan struct{}

	mu    sync.Mutex
	free  int
	given int // to who waited
	// Who waits, the longest first: with a hand, and come back from a batch without
	// one. Those come a hundred at once, and are not to keep live changes waiting.
	first, last []chan struct{}
}

func newSeats(seated, beside int) *seats {
	return &seats{hands: make(chan struct{}, seated+beside), free: seated}
}

// firstShare is how many seats of those that are waited for go to keys with a hand
// before one goes to a key that came back, whose lease runs.
const firstShare = 3

// take waits for a seat, and reports false where over came first.
func (s *seats) take(handless bool, over <-chan struct{}) bool {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return true
	}
	mine := make(chan struct{})
	line := &s.first
	if handless {
		line = &s.last
	}
	*line = append(*line, mine)
	s.mu.Unlock()
	select {
	case <-mine:
		return true
	case <-over:
	}
	s.mu.Lock()
	i := slices.Index(*line, mine)
	if i >= 0 {
		*line = slices.Delete(*line, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 { // it was given at the same moment
		s.give()
	}
	return false
}

func (s *seats) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := &s.first
	if len(s.first) == 0 || len(s.last) > 0 && s.given%(firstShare+1) == firstShare {
		next = &s.last
	}
	if len(*next) == 0 {
		s.free++
		return
	}
	s.given++
	close((*next)[0])
	*next = (*next)[1:]
}

// place is what one key has of the seats: a hand and, while it may be at a
// service, a seat. One without seats is bounded by nothing. Keys that are worked one
// after the other have it in turn.
type place struct {
	*seats
	over <-chan struct{} // closed when the key's time is over: no seat is waited for

	mu                     sync.Mutex
	seated, away, handless bool
	forsaken               bool
}

// begin gives the place to a key that is worked until over is closed.
func (p *place) begin(over <-chan struct{}) { p.over = over }

// sit takes a seat where the key has none yet and is not away.
func (p *place) sit() {
	p.mu.Lock()
	wants, handless := p.seats != nil && !p.seated && !p.away && !p.forsaken, p.handless
	p.mu.Unlock()
	if !wants || !p.take(handless, p.over) {
		return
	}
	p.mu.Lock()
	stays := !p.forsaken
	p.seated = stays
	p.mu.Unlock()
	if !stays {
		p.give()
	}
}

// rise gives the seat, where there is one, to another key.
func (p *place) rise() {
	p.mu.Lock()
	seated := p.seated
	p.seated = false
	p.mu.Unlock()
	if seated {
		p.give()
	}
}

// leave gives the seat and the hand of a key that waits for something else to
// others. After back it goes on without a hand: those may be taken for as long as
// other keys are due, and its lease runs.
func (p *place) leave() {
	p.rise()
	p.drop()
	p.mu.Lock()
	p.away = true
	p.mu.Unlock()
}

func (p *place) back() {
	p.mu.Lock()
	p.away = false
	p.mu.Unlock()
}

// drop gives the hand to another key, once.
func (p *place) drop() {
	p.mu.Lock()
	held := p.seats != nil && !p.handless
	p.handless = true
	p.mu.Unlock()
	if held {
		<-p.hands
	}
}

// forsake gives seat and hand to others for good, though somebody may go on who
// believes to have them.
func (p *place) forsake() {
	p.mu.Lock()
	p.forsaken = true
	p.mu.Unlock()
	p.rise()
	p.drop()
}

// sit takes a seat for the key.
func (w *work) sit() { w.seat().sit() }

// rise lets another key have the seat, and go first, once planning has answered: to
// take the answer in and to store it needs none. Only between a read of GitHub and
// the write that follows the seat is kept.
func (w *work) rise() {
	if w.fresh {
		return
	}
	w.seat().rise()
	runtime.Gosched()
}

// seat is the place of the key that the work is a part of.
func (w *work) seat() *place {
	for w.of != nil {
		w = w.of
	}
	return w.home().place
}

// atGitHub and atPlanning are the services for one who calls them: seated.
func (w *work) atGitHub() GitHub {
	w.sit()
	return unpublished{w.GitHub, w}
}

func (w *work) atPlanning() Planning {
	w.sit()
	return w.planning
}
