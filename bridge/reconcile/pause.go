package reconcile

import "time"

// What went wrong is not tried again before a while has passed, longer each time.

// pauseLeft is how long it is until something may be tried again (0: now), and why.
func (w *work) pauseLeft(name string) (wait time.Duration, why string) {
	p := get(w, PauseLeft{name})
	return p.Wait, p.Why
}

// pauseAfter takes in that something went wrong, and reports whether it had been all right.
func (w *work) pauseAfter(name, why string, first, most time.Duration) (wait time.Duration, news bool) {
	p := get(w, PauseAfter{name, why, first, most})
	return p.Wait, p.News
}

func (w *work) pauseOver(name string) { tell(w, PauseOver{name}) }
