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

// outage is a failure of the service as a whole: no connection, no timely answer, or a 5xx. It
// counts for the circuit breaker, and a read is retried.
type outage struct {
	err      error
	streamed bool // the caller already got parts of the answer
}

func (o *outage) Error() string { return o.err.Error() }
func (o *outage) Unwrap() error { return o.err }

func isOutage(err error) bool {
	var o *outage
	return errors.As(err, &o)
}

// errCallerLeft marks a request that the caller cancelled. It says nothing about the service.
var errCallerLeft = errors.New("cancelled")

// lost is the error of a request without a complete answer.
func (k *call) lost(caller context.Context, err error, maybeSent bool) error {
	fault := mapping.ErrUnavailable
	if k.Writes && maybeSent {
		fault = mapping.ErrUncertain
	}
	if errors.Is(caller.Err(), context.Canceled) {
		return fmt.Errorf("%w: %w: %w", fault, errCallerLeft, context.Canceled)
	}
	return &outage{err: fmt.Errorf("%w: %w", fault, err)}
}

func withMessage(fault error, status int, said string) error {
	if said == "" {
		return fmt.Errorf("%w (status %d)", fault, status)
	}
	return fmt.Errorf("%w (status %d: %s)", fault, status, said)
}

// Bounds on a Retry-After. defaultRetryAfter stands for an unreadable one.
const (
	minRetryAfter     = time.Second
	defaultRetryAfter = 30 * time.Second
	maxRetryAfter     = time.Hour
)

// retryAfter reads both forms of the header (RFC 9110, 10.2.3).
func retryAfter(header string, now time.Time) time.Duration {
	wait := defaultRetryAfter
	if seconds, err := strconv.ParseFloat(strings.TrimSpace(header), 64); err == nil && seconds == seconds {
		wait = time.Duration(min(max(seconds, 0), maxRetryAfter.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, minRetryAfter), maxRetryAfter)
}
