package reconcile

// seats bound what is worked at once. A key takes a hand for as long as it is
// worked and, beside it, a seat while it may be at a service: planning and GitHub
// are to have so many of us at once and no more. With more hands than seats the
// records of some keys are read and stored while others wait for a service, so
// that a seat which becomes free finds a key that is ready to be written.
type seats struct {
	hands, taken chan struct{}
}

func newSeats(seated, beside int) *seats {
	return &seats{hands: make(chan struct{}, seated+beside), taken: make(chan struct{}, seated)}
}

// place is what one key has of the seats: a hand and, while it may be at a
// service, a seat. One without seats is bounded by nothing.
type place struct {
	*seats
	seated bool
}

func (p *place) sit() {
	if p.seats != nil {
		p.taken <- struct{}{}
		p.seated = true
	}
}

// rise gives the seat to another key, and reports whether there was one to give.
func (p *place) rise() bool {
	if !p.seated {
		return false
	}
	p.seated = false
	<-p.taken
	return true
}

// leave gives the seat and the hand of a key that waits for something else to
// others; back takes them again.
func (p *place) leave() {
	p.rise()
	if p.seats != nil {
		<-p.hands
	}
}

func (p *place) back() {
	if p.seats != nil {
		p.hands <- struct{}{}
	}
	p.sit()
}
