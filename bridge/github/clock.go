package github

import (
	"net/http"
	"time"
)

// ClockAhead returns how far GitHub's clock is ahead of this process's, which
// is negative where it is behind, as its last answer told; false before the
// first one. A GitHub that does not tell its time is taken to have ours. It is
// safe for concurrent use.
func (c *Client) ClockAhead() (time.Duration, bool) {
	if d := c.wire.ahead.Load(); d != nil {
		return *d, true
	}
	return 0, false
}

// noteDate takes in the Date of an answer. A 5xx may be the word of a server in
// between, with a clock of its own. Date has whole seconds: a difference that
// these and the request's way there explain is none, and of what a greater one
// may be the earliest is taken.
func (w *wire) noteDate(status int, h http.Header, sent, received time.Time) {
	if status >= http.StatusInternalServerError {
		return
	}
	ahead := time.Duration(0)
	date, err := http.ParseTime(h.Get("Date"))
	if err == nil && (date.After(received) || date.Add(time.Second).Before(sent)) {
		ahead = date.Sub(received)
	}
	if err == nil || w.ahead.Load() == nil {
		w.ahead.Store(&ahead)
	}
}
