package reconcile

// seats bound what is worked at once. A key takes a hand for as long as it is
// worked and, beside it, a seat while it may be at a service: planning and GitHub
// are to have so many of us at once and no more. With more hands than seats the
// records of some keys are read and stored while others wait for a service, so
// that a seat which becomes free finds a key that is ready to be written. A nil
// seats bounds nothing.
type seats struct {
	hands, taken chan struct{}
}

func newSeats(seated, beside int) *seats {
	return &seats{hands: make(chan struct{}, seated+beside), taken: make(chan struct{}, seated)}
}

func (s *seats) sit() {
	if s != nil {
		s.taken <- struct{}{}
	}
}

func (s *seats) rise() {
	if s != nil {
		<-s.taken
	}
}

// leave gives the seat and the hand of a key that waits for something else to
// others; back takes them again.
func (s *seats) leave() {
	s.rise()
	if s != nil {
		<-s.hands
	}
}

func (s *seats) back() {
	if s != nil {
		s.hands <- struct{}{}
	}
	s.sit()
}
