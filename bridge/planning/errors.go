package planning

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
)

// outage is a failure of the service as a whole, which counts for its circuit
// breaker and is worth another try of a read: no connection, no answer in
// time, or a 5xx.
type outage struct {
	err      error
	streamed bool // parts of the answer were handed out already
}

func (o *outage) Error() string { return o.err.Error() }
func (o *outage) Unwrap() error { return o.err }

func isOutage(err error) bool {
	var o *outage
	return errors.As(err, &o)
}

// errCallerLeft marks a request that the caller cancelled; it says nothing
// about the service.
var errCallerLeft = errors.New("cancelled")

// lost is the error of a request whose answer did not come whole.
func (k *call) lost(caller context.Context, err error, maybeSent bool) error {
	fault := mapping.ErrUnavailable
	if k.write() && maybeSent {
		fault = mapping.ErrUncertain
	}
	if errors.Is(caller.Err(), context.Canceled) {
		return fmt.Errorf("%w: %w: %w", fault, errCallerLeft, context.Canceled)
	}
	return &outage{err: fmt.Errorf("%w: %w", fault, err)}
}

// unintelligible is the error of an answer that came but says nothing.
func unintelligible(write bool, err error) error {
	fault := mapping.ErrUnavailable
	if write {
		fault = mapping.ErrUncertain
	}
	return fmt.Errorf("%w: answer not understood: %w", fault, err)
}

// statusError says what an answer other than 2xx means:
//
//	3xx                            moved; after a write 302 and 303 may say "done, see there"
//	401, 403                       the secret is refused (403 also: no such project)
//	404, 410                       not found, gone
//	429, 503 with Retry-After      leave it alone for a while
//	408, 425, other 5xx            unavailable; a write: outcome unknown
//	other 4xx, and 401 403 404     the value is refused, in the service's words
//	  that speak of the username
func (c *Client) statusError(k call, resp *http.Response, body []byte) error {
	status := resp.StatusCode
	said := c.words(body)
	after := resp.Header.Get("Retry-After")
	fault := mapping.ErrUnavailable
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && after != "":
		why := "status " + strconv.Itoa(status)
		if after != "" {
			why = "Retry-After"
		}
		return &mapping.RateLimited{API: "planning", After: retryAfter(after, time.Now()), Why: why}
	case status/100 == 5 || status == http.StatusRequestTimeout || status == http.StatusTooEarly:
		if k.write() {
			fault = mapping.ErrUncertain
		}
		return &outage{err: withWords(fault, status, said)}
	case status/100 == 3:
		fault = mapping.ErrMoved
		if k.write() && (status == http.StatusFound || status == http.StatusSeeOther) {
			fault = mapping.ErrUncertain
		}
	case status/100 != 4: // 1xx that ended a request
		return unintelligible(k.write(), fmt.Errorf("status %d", status))
	case k.write() && namesUser(said, k.username):
		return &mapping.Rejection{Status: status, Field: "username", Words: said}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		fault = mapping.ErrUnauthorized
	case status == http.StatusNotFound:
		fault = mapping.ErrNotFound
	case status == http.StatusGone:
		fault = mapping.ErrGone
	default:
		return &mapping.Rejection{Status: status, Field: namedField(said, k.sent), Words: said}
	}
	return withWords(fault, status, said)
}

func withWords(fault error, status int, said string) error {
	if said == "" {
		return fmt.Errorf("%w (status %d)", fault, status)
	}
	return fmt.Errorf("%w (status %d: %s)", fault, status, said)
}

// Bounds of what a Retry-After may ask for. What cannot be read means
// defaultRetryAfter.
const (
	minRetryAfter     = time.Second
	defaultRetryAfter = 30 * time.Second
	maxRetryAfter     = time.Hour
)

// retryAfter reads the header in both of its forms (RFC 9110, 10.2.3).
func retryAfter(header string, now time.Time) time.Duration {
	wait := defaultRetryAfter
	if seconds, err := strconv.ParseFloat(strings.TrimSpace(header), 64); err == nil && seconds == seconds {
		wait = time.Duration(min(max(seconds, 0), maxRetryAfter.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, minRetryAfter), maxRetryAfter)
}
