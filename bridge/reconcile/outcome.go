package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// again puts a key off without counting a failure.
type again struct {
	after time.Duration
	why   string
}

func (e *again) Error() string { return e.why }

func later(after time.Duration, format string, args ...any) error {
	return &again{after, fmt.Sprintf(format, args...)}
}

// waitFor lets a key wait until something is woken by name.
type waitFor struct{ service, why string }

func (e *waitFor) Error() string { return e.why }

// errRemove ends a link that never became one.
var errRemove = errors.New("does not enter")

// sideError remembers which side an error came from, so that a service that is
// down is waited for.
type sideError struct {
	side mapping.Side
	err  error
}

func (e *sideError) Error() string { return e.err.Error() }
func (e *sideError) Unwrap() error { return e.err }

func onGitHub(err error) error   { return onSide(mapping.GitHub, err) }
func onPlanning(err error) error { return onSide(mapping.Planning, err) }

func onSide(side mapping.Side, err error) error {
	if err == nil {
		return nil
	}
	return &sideError{side, err}
}

// outcome says what becomes of the key, and names the result for the metric.
func (w *work) outcome(ctx context.Context, err error) (store.Outcome, string) {
	var (
		put     *again
		wait    *waitFor
		limited *mapping.RateLimited
		side    *sideError
		public  *publicError
	)
	switch {
	case err == nil:
		return store.Outcome{Kind: store.Done}, "done"
	case errors.Is(err, errRemove):
		return store.Outcome{Kind: store.Remove}, "removed"
	case errors.Is(err, store.ErrConflict) && len(w.link.Refs()) == 1 && (w.link.Intent == nil || !w.link.Intent.Sent):
		// As a store that lost a part of itself can have it. What was sent for it an operator has to see.
		w.log.Warn("another link has the item: this one goes", "err", err)
		return store.Outcome{Kind: store.Remove, Reason: err.Error()}, "removed"
	case errors.As(err, &put):
		w.log.Info("put off", "after", put.after.String(), "why", put.why)
		return store.Outcome{Kind: store.Again, After: put.after, Reason: put.why}, "again"
	case errors.As(err, &public):
		w.log.Warn("withheld", "why", public.Error())
		return store.Outcome{Kind: store.Park, Reason: public.Error()}, "parked"
	case errors.Is(err, errUntitled):
		w.log.Warn("parked", "err", err)
		return store.Outcome{Kind: store.Park, Reason: err.Error()}, "parked"
	case errors.As(err, &wait):
		w.log.Info("waiting", "for", wait.service, "why", wait.why)
		return store.Outcome{Kind: store.Wait, Service: wait.service, Reason: wait.why}, "waiting"
	case ctx.Err() != nil:
		return store.Outcome{Kind: store.Again, Reason: "handed back"}, "again"
	case errors.As(err, &limited):
		w.log.Warn("rate limited", "err", err)
		return store.Outcome{Kind: store.Again, After: limited.After + w.jitter(limited.After/10+time.Second), Reason: err.Error()}, "limited"
	case errors.Is(err, errRunaway):
		w.log.Error("parked", "err", err)
		return store.Outcome{Kind: store.Park, Reason: err.Error()}, "parked"
	case errors.As(err, &side) && w.down(side):
		w.log.Warn("waiting for a service", "service", w.service(side.side), "err", err)
		return store.Outcome{Kind: store.Wait, Service: w.service(side.side), Reason: err.Error()}, "waiting"
	}
	return w.failed(err)
}

// down reports whether an error says that a whole service is away, which is
// one fact and not a failure of this key.
func (w *work) down(e *sideError) bool {
	return errors.Is(e, mapping.ErrUnauthorized) || errors.Is(e, mapping.ErrUnavailable) && w.Down(w.service(e.side))
}

func (w *work) service(side mapping.Side) string {
	if side == mapping.GitHub {
		return ServiceGitHub
	}
	return ServicePlanning(w.link.Project)
}

// failed spends an attempt, or parks the key when none is left.
func (w *work) failed(err error) (store.Outcome, string) {
	attempts := w.claim.Attempts + 1
	if attempts >= w.set.Retry.MaxAttempts {
		w.log.Error("parked", "attempts", attempts, "err", err)
		return store.Outcome{Kind: store.Park, Reason: err.Error()}, "parked"
	}
	after := min(time.Second<<min(attempts-1, 20), w.set.Retry.MaxInterval)
	after = after/2 + w.jitter(after)
	w.log.Warn("to be tried again", "attempt", attempts, "after", after.String(), "err", err)
	return store.Outcome{Kind: store.Retry, After: after, Reason: err.Error()}, "retry"
}

// jitter is a random part of a duration.
func (r *Reconciler) jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(r.random(int64(d)))
}
