package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// The errors by which the work on a key ends, or waits. File rest.go says how the key then comes to
// rest.

// errGone ends a key's work: one of its items is proven gone.
var errGone = errors.New("item is gone")

// parkedError parks a key until a change of its items, or until an operator retries it.
type parkedError struct{ why string }

func (e *parkedError) Error() string { return e.why }

func parks(format string, args ...any) error { return &parkedError{fmt.Sprintf(format, args...)} }

func isParked(err error) bool { return errors.As(err, new(*parkedError)) }

// IsGone reports whether a service's error says that an item does not exist.
func IsGone(err error) bool {
	return errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone)
}

// requeueAfter puts a key off without counting a failure.
type requeueAfter struct {
	after time.Duration
	why   string
	quiet bool // logged before, or elsewhere
	// turn: the wait has a bound of its own, or ends for certain, such as the route's turn, a
	// person's pause, or the next page.
	turn bool
}

func (e *requeueAfter) Error() string { return e.why }

// Later returns the error that puts a key off without counting a failure.
func Later(after time.Duration, format string, args ...any) error {
	return later(after, format, args...)
}

func later(after time.Duration, format string, args ...any) error {
	return &requeueAfter{after: after, why: fmt.Sprintf(format, args...)}
}

// quietly is Later for a fact about many keys, which one log line elsewhere reports.
func quietly(after time.Duration, format string, args ...any) error {
	return &requeueAfter{after: after, why: fmt.Sprintf(format, args...), quiet: true}
}

// inTurn is Later for a wait that ends for certain, however often it repeats.
func inTurn(after time.Duration, format string, args ...any) error {
	return &requeueAfter{after: after, why: fmt.Sprintf(format, args...), turn: true}
}

// revisit is when a finished key is due again, and why; the zero value: never.
type revisit struct {
	after time.Duration
	why   string
}

// soonest is the earlier one of two.
func (v revisit) soonest(o revisit) revisit {
	if o.after > 0 && (v.after <= 0 || o.after < v.after) {
		return o
	}
	return v
}

// latest is the later one of two.
func (v revisit) latest(o revisit) revisit {
	if o.after > v.after {
		return o
	}
	return v
}

// blockedOn makes a key wait until a service is woken by its name.
type blockedOn struct{ service, why string }

func (e *blockedOn) Error() string { return e.why }

// lostLease reports whether an error says that this process no longer owns the key.
func lostLease(err error) bool {
	return errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrEpoch)
}

// errRemove removes a link that never came to be.
var errRemove = errors.New("does not enter")

// sideError records which side an error came from, so that keys wait for a service that is
// down.
type sideError struct {
	side mapping.Side
	err  error
}

func (e *sideError) Error() string { return e.err.Error() }

func (e *sideError) Unwrap() error { return e.err }

// OnGitHub marks an error as GitHub's, so that keys wait for GitHub while it is down.
func OnGitHub(err error) error { return onGitHub(err) }

func onGitHub(err error) error { return onSide(mapping.GitHub, err) }

func onPlanning(err error) error { return onSide(mapping.Planning, err) }

func onSide(side mapping.Side, err error) error {
	if err == nil {
		return nil
	}
	return &sideError{side, err}
}

// isTerminal reports whether one of the errors ends the claim.
func isTerminal(errs []error) bool {
	for _, err := range errs {
		var put *requeueAfter
		var wait *blockedOn
		var limited *mapping.RateLimited
		switch {
		case err == nil, errors.As(err, &put):
		case lostLease(err), errors.As(err, new(*mapping.BrokenError)), isTooLarge(err), errors.As(err, &wait), errors.As(err, &limited),
			errors.Is(err, mapping.ErrUnavailable), errors.Is(err, mapping.ErrUnauthorized), errors.Is(err, ErrOver):
			return true
		}
	}
	return false
}

// isTooLarge reports whether the store refused a record because of its size.
func isTooLarge(err error) bool { return errors.As(err, new(*store.SizeError)) }

// errRunaway parks a link that is written over and over.
var errRunaway = errors.New("each write is answered with a change: two programs may be answering each other; once that has ended, retry it")

const (
	isPublic = " is public, and the route does not say allow_public"
	isUntold = ": GitHub does not say whether it is public, and nothing of planning is shown there before it does"
)

// untoldWait is how long a link with a withheld value waits, while it is not known whether its
// repository is public.
const untoldWait = 15 * time.Second

// publicError refuses a write that would publish planning's side, or may do so (untold). It
// counts as a refusal by GitHub, so that the write counts as not sent.
type publicError struct {
	repo   string
	untold bool
}

func (e *publicError) Error() string {
	if e.untold {
		return e.repo + isUntold
	}
	return e.repo + isPublic
}

func (e *publicError) Unwrap() error { return mapping.ErrForbidden }

// isWithheld reports whether an error is our own refusal to write, and not GitHub's.
func isWithheld(err error) bool {
	return errors.As(err, new(*publicError)) || errors.As(err, new(*mapping.StrangerError))
}

// Certain reports whether a failed create certainly made nothing.
func Certain(err error) bool {
	if _, ok := errors.AsType[*mapping.RateLimited](err); ok {
		return true
	}
	for _, known := range []error{
		mapping.ErrRejected, mapping.ErrUnavailable, mapping.ErrUnauthorized, mapping.ErrForbidden,
		mapping.ErrNotFound, mapping.ErrGone, mapping.ErrMoved,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// unreachable reports an error that says that GitHub has nothing here for us.
func unreachable(err error) bool {
	return IsGone(err) || errors.Is(err, mapping.ErrForbidden) || errors.Is(err, mapping.ErrMoved)
}

// mostSevere is the error that decides how the key comes to rest: a failure before a mere
// wait, and the shortest wait of several.
func mostSevere(errs []error) error {
	rank := func(err error) int {
		var put *requeueAfter
		switch {
		case lostLease(err), errors.As(err, new(*mapping.BrokenError)), isTooLarge(err):
			return 0
		case errors.As(err, &put):
			return 2
		case isWithheld(err), isParked(err): // errors that only park the key
			return 3
		}
		return 1
	}
	wait := func(err error) time.Duration {
		if put := (*requeueAfter)(nil); errors.As(err, &put) {
			return put.after
		}
		return 0
	}
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	return slices.MinFunc(errs, func(a, b error) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(wait(a), wait(b))) })
}

// isGitHubs reports whether an error came from GitHub.
func isGitHubs(err error) bool {
	var side *sideError
	return errors.As(err, &side) && side.side == mapping.GitHub
}
