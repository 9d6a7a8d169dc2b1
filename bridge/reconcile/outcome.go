package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// again puts a key off without counting a failure.
type again struct {
	after time.Duration
	why   string
	quiet bool // said before
	// turn: what it waits for has a bound of its own, or comes for certain: the turn of
	// the route, a person's pause, the next page.
	turn bool
}

func (e *again) Error() string { return e.why }

func later(after time.Duration, format string, args ...any) error {
	return &again{after: after, why: fmt.Sprintf(format, args...)}
}

// inTurn is later for what comes for certain, however often it is waited for.
func inTurn(after time.Duration, format string, args ...any) error {
	return &again{after: after, why: fmt.Sprintf(format, args...), turn: true}
}

// revisit is when a key on which all is done is looked at again, and why; the zero value:
// it is not.
type revisit struct {
	after time.Duration
	why   string
}

// sooner is the one of two that comes first.
func (v revisit) sooner(o revisit) revisit {
	if o.after > 0 && (v.after <= 0 || o.after < v.after) {
		return o
	}
	return v
}

// later is the one of two that comes last.
func (v revisit) later(o revisit) revisit {
	if o.after > v.after {
		return o
	}
	return v
}

// waitFor lets a key wait until something is woken by name.
type waitFor struct{ service, why string }

func (e *waitFor) Error() string { return e.why }

// lostLease reports that an error says that the key is not this process's any more.
func lostLease(err error) bool {
	return errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrEpoch)
}

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
		other   *mapping.StrangerError
		broken  *mapping.BrokenError
	)
	switch {
	case errors.As(err, &broken):
		return store.Outcome{Kind: store.Park, Reason: err.Error()}, "parked"
	case err == nil:
		w.link.Deferred = mapping.Deferred{}
		return store.Outcome{Kind: store.Done}, "done"
	case errors.Is(err, errRemove):
		return store.Outcome{Kind: store.Remove}, "removed"
	case errors.Is(err, store.ErrConflict) && len(w.link.Refs()) == 1 && (w.link.Intent == nil || !w.link.Intent.Sent):
		// As a store that lost a part of itself can have it. What was sent for it an operator has to see.
		w.log.Warn("another link has the item: this one goes", "err", err)
		return store.Outcome{Kind: store.Remove, Reason: err.Error()}, "removed"
	case errors.As(err, &put):
		return w.deferred(ctx, put, err)
	case errors.As(err, &public) && public.untold:
		w.log.Warn("withheld", "why", public.Error())
		return store.Outcome{Kind: store.Again, After: untoldWait, Reason: public.Error()}, "again"
	case errors.As(err, &other):
		w.log.Warn("waiting", "for", ServiceRepository(other.Repo), "why", err)
		return store.Outcome{Kind: store.Wait, Service: ServiceRepository(other.Repo), Reason: err.Error()}, "waiting"
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
		after := w.afterLimit(limited)
		w.log.Info("put off", "after", after.String(), "why", err.Error())
		return store.Outcome{Kind: store.Again, After: after, Reason: err.Error()}, "limited"
	case errors.Is(err, errRunaway):
		w.log.Error("parked", "err", err)
		return store.Outcome{Kind: store.Hold, Reason: err.Error()}, "parked"
	case errors.As(err, &side) && w.down(side):
		w.log.Warn("waiting for a service", "service", w.service(side.side), "err", err)
		return store.Outcome{Kind: store.Wait, Service: w.service(side.side), Reason: err.Error()}, "waiting"
	}
	return w.failed(err)
}

const (
	// deferFew is how often in a row a key is put off for as long as was asked; after
	// that for twice as long each time, up to deferMost.
	deferFew  = 10
	deferMost = time.Minute
	// deferFor is how long a key is put off before that is a failure, of which
	// retry.max_attempts park it.
	deferFor = time.Hour
)

// deferred puts a key off. What does not come though it was waited for over and over is
// waited for less often, and then it is a failure.
func (w *work) deferred(ctx context.Context, put *again, err error) (store.Outcome, string) {
	after, d := put.after, &w.link.Deferred
	if !put.turn {
		if d.Count == 0 {
			d.Since = time.Now().UTC()
		}
		d.Count++
		if more := d.Count - deferFew; more > 0 {
			after = max(after, min(time.Second<<min(more, 10), deferMost))
		}
		if age := time.Since(d.Since); d.Count > 2*deferFew && age > deferFor {
			out, result := w.failed(fmt.Errorf("put off %d times since %s: %w", d.Count, d.Since.Format(time.RFC3339), err))
			if out.Kind == store.Park {
				*d = mapping.Deferred{}
			}
			return out, result
		}
	}
	level := slog.LevelInfo
	if put.quiet {
		level = slog.LevelDebug
	}
	w.log.Log(ctx, level, "put off", "after", after.String(), "why", put.why)
	return store.Outcome{Kind: store.Again, After: after, Reason: put.why}, "again"
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
func (w *work) failed(err error) (store.Outcome, string) { return w.spend(w.claim, w.log, err) }

func (r *Reconciler) spend(claim *store.Claim, log *slog.Logger, err error) (store.Outcome, string) {
	attempts, retry := claim.Attempts+1, r.Settings().Retry
	if attempts >= retry.MaxAttempts {
		log.Error("parked", "attempts", attempts, "err", err)
		return store.Outcome{Kind: store.Park, Reason: err.Error()}, "parked"
	}
	after := r.backOff(attempts, retry)
	log.Warn("to be tried again", "attempt", attempts, "after", after.String(), "err", err)
	return store.Outcome{Kind: store.Retry, After: after, Reason: err.Error()}, "retry"
}

// backOff is how long the next attempt is put off after so many.
func (r *Reconciler) backOff(attempts int, retry Retry) time.Duration {
	after := min(time.Second<<min(attempts-1, 20), retry.MaxInterval)
	return after/2 + r.jitter(after)
}

// afterLimit is when a key that was limited is looked at again: at its turn, or, where
// many wait for the same moment, a little after it.
func (r *Reconciler) afterLimit(limited *mapping.RateLimited) time.Duration {
	if limited.Turn {
		return limited.After
	}
	return limited.After + r.jitter(limited.After/10+time.Second)
}

// jitter is a random part of a duration.
func (r *Reconciler) jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(r.Random(int64(d)))
}
