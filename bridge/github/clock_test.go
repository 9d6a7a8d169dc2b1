package github

import (
	"net/http"
	"testing"
	"time"
)

// TestClockAhead: the Date of an answer tells how far GitHub's clock is ahead,
// except where whole seconds and the request's way explain the difference.
func TestClockAhead(t *testing.T) {
	w := &Client{wire: &wire{}}
	sent := serverNow.Add(400 * time.Millisecond)
	received := sent.Add(200 * time.Millisecond)
	none := []string{}
	for _, tc := range []struct {
		name   string
		status int
		date   []string
		slow   time.Duration
		ahead  time.Duration
		known  bool
	}{
		{"nothing yet, but a server in between", 502, []string{serverDate}, 0, 0, false},
		{"no date", 200, none, 0, 0, true},
		{"the same second", 200, []string{serverDate}, 0, 0, true},
		{"behind", 404, []string{serverNow.Add(-time.Minute).Format(http.TimeFormat)}, 0, -time.Minute - 600*time.Millisecond, true},
		{"no date after one", 200, none, 0, -time.Minute - 600*time.Millisecond, true},
		{"ahead", 304, []string{serverNow.Add(time.Minute).Format(http.TimeFormat)}, 0, time.Minute - 600*time.Millisecond, true},
		{"within a slow answer", 200, []string{serverNow.Add(3 * time.Second).Format(http.TimeFormat)}, 5 * time.Second, 0, true},
		{"not a date", 200, []string{"today"}, 0, 0, true},
	} {
		w.wire.noteDate(tc.status, http.Header{"Date": tc.date}, sent, received.Add(tc.slow))
		ahead, known := w.ClockAhead()
		if ahead != tc.ahead || known != tc.known {
			t.Errorf("%s: %s, %v; want %s, %v", tc.name, ahead, known, tc.ahead, tc.known)
		}
	}
}
