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

// mostSevere is the error that decides what becomes of the key: a failure before
// what only has to wait, of which the shortest.
func mostSevere(errs []error) error {
	rank := func(err error) int {
		var put *requeueAfter
		switch {
		case lostLease(err), errors.As(err, new(*mapping.BrokenError)), isTooLarge(err):
			return 0
		case errors.As(err, &put):
			return 2
		case isWithheld(err), isParked(err): // what only parks the key
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

// errGone ends a key's work: one of its items is proven gone.
var errGone = errors.New("item is gone")

// parkedError parks a key: it goes on after a change, or when an operator says so.
type parkedError struct{ why string }

func (e *parkedError) Error() string { return e.why }

func parks(format string, args ...any) error { return &parkedError{fmt.Sprintf(format, args...)} }

func isParked(err error) bool { return errors.As(err, new(*parkedError)) }

// IsGone reports an error by which a service says that an item is not there.
func IsGone(err error) bool {
	return errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone)
}

// requeueAfter puts a key off without counting a failure.
type requeueAfter struct {
	after time.Duration
	why   string
	quiet bool // said before
	// turn: what it waits for has a bound of its own, or comes for certain: the turn of
	// the route, a person's pause, the next page.
	turn bool
}

func (e *requeueAfter) Error() string { return e.why }

// Later is the error that puts a key off without counting a failure.
func Later(after time.Duration, format string, args ...any) error {
	return later(after, format, args...)
}

func later(after time.Duration, format string, args ...any) error {
	return &requeueAfter{after: after, why: fmt.Sprintf(format, args...)}
}

// inTurn is later for what comes for certain, however often it is waited for.
func inTurn(after time.Duration, format string, args ...any) error {
	return &requeueAfter{after: after, why: fmt.Sprintf(format, args...), turn: true}
}

// revisit is when a key on which all is done is looked at again, and why; the zero value:
// it is not.
type revisit struct {
	after time.Duration
	why   string
}

// soonest is the one of two that comes first.
func (v revisit) soonest(o revisit) revisit {
	if o.after > 0 && (v.after <= 0 || o.after < v.after) {
		return o
	}
	return v
}

// latest is the one of two that comes last.
func (v revisit) latest(o revisit) revisit {
	if o.after > v.after {
		return o
	}
	return v
}

// blockedOn lets a key wait until something is woken by name.
type blockedOn struct{ service, why string }

func (e *blockedOn) Error() string { return e.why }

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

// OnGitHub says of an error that it came from GitHub, so that GitHub is waited for where it
// is down.
func OnGitHub(err error) error { return onGitHub(err) }

func onGitHub(err error) error { return onSide(mapping.GitHub, err) }

func onPlanning(err error) error { return onSide(mapping.Planning, err) }

func onSide(side mapping.Side, err error) error {
	if err == nil {
		return nil
	}
	return &sideError{side, err}
}

// Rest is what becomes of a key that was worked, as far as the two sides decide it. The
// engine turns it into an outcome: it knows the attempts, the pauses and the services.
type Rest struct {
	Kind RestKind
	// After is when the key is looked at again; of RestAgreed 0: it is not.
	After time.Duration
	// Spread is how much later than that the key may come, so that not all come at once.
	Spread time.Duration
	// Service is what a blocked key waits for, and of RestFailed the one whose request failed.
	Service string
	// Why is the reason that an operator is shown.
	Why string
	// Err is what went wrong, or what a key is put off for; nil: nothing.
	Err   error
	Quiet bool // said before
}

// RestKind is the kind of a [Rest].
type RestKind int

// The kinds of a [Rest].
const (
	// RestAgreed: the sides agree, or all is done that can be done.
	RestAgreed RestKind = iota
	// RestRemoved: the link never became one and goes.
	RestRemoved
	// RestPutOff: the key goes on after a while. One that is put off too often fails.
	RestPutOff
	// RestInTurn is RestPutOff for what comes for certain, however often it is waited for.
	RestInTurn
	// RestLimited: a service or a budget takes no more for a while.
	RestLimited
	// RestBlocked: the key waits until its service is woken.
	RestBlocked
	// RestParked: the key goes on after a change, or when an operator says so.
	RestParked
	// RestHeld: the key goes on when an operator says so.
	RestHeld
	// RestFailed: the attempt failed.
	RestFailed
	// RestLost: the lease is not this process's any more. Nothing may be finished.
	RestLost
)

// situation is what decides, beside an error, how a key comes to rest.
type situation struct {
	project mapping.ObjectID
	over    bool // the time of the claim
	unmade  bool // the link has one item, and nothing was sent for it
	// down reports whether a service is known to be away; nil: none is.
	down func(service string) bool
}

// service is the name by which keys wait for a side.
func (s situation) service(side mapping.Side) string {
	if side == mapping.GitHub {
		return ServiceGitHub
	}
	return ServicePlanning(s.project)
}

// isDown reports whether an error says that a whole service is away, which is one fact and
// not a failure of this key.
func (s situation) isDown(e *sideError) bool {
	return errors.Is(e, mapping.ErrUnauthorized) || errors.Is(e, mapping.ErrUnavailable) && s.down != nil && s.down(s.service(e.side))
}

// restOf says how a key comes to rest after a claim that ended with an error, or with none.
func restOf(err error, s situation) Rest {
	var (
		put     *requeueAfter
		wait    *blockedOn
		limited *mapping.RateLimited
		side    *sideError
		public  *publicError
		other   *mapping.StrangerError
	)
	switch {
	case err == nil:
		return Rest{Kind: RestAgreed}
	case lostLease(err):
		return Rest{Kind: RestLost, Err: err}
	case errors.As(err, new(*mapping.BrokenError)):
		return Rest{Kind: RestParked, Why: err.Error(), Err: err}
	case errors.Is(err, errRemove):
		return Rest{Kind: RestRemoved}
	case errors.Is(err, store.ErrConflict) && s.unmade:
		// Another link has the item, as after the store lost a part of itself. Where
		// something was sent for this link an operator has to see it.
		return Rest{Kind: RestRemoved, Why: err.Error(), Err: err}
	case errors.As(err, &put):
		return put.rest(err)
	case errors.As(err, &public) && public.untold:
		return Rest{Kind: RestInTurn, After: untoldWait, Why: public.Error(), Err: public}
	case errors.As(err, &other):
		return Rest{Kind: RestBlocked, Service: ServiceRepository(other.Repo), Why: err.Error(), Err: err}
	case errors.As(err, &public):
		return Rest{Kind: RestParked, Why: public.Error(), Err: public}
	case isParked(err):
		return Rest{Kind: RestParked, Why: err.Error(), Err: err}
	case errors.As(err, &wait):
		return Rest{Kind: RestBlocked, Service: wait.service, Why: wait.why}
	case s.over:
		return Rest{Kind: RestInTurn, Why: "handed back", Quiet: true}
	case errors.As(err, &limited):
		return restOfLimit(limited, err)
	case errors.Is(err, errRunaway):
		return Rest{Kind: RestHeld, Why: err.Error(), Err: err}
	case errors.As(err, &side) && s.isDown(side):
		return Rest{Kind: RestBlocked, Service: s.service(side.side), Why: err.Error(), Err: err}
	}
	rest := failed(err)
	if errors.As(err, &side) && isUnanswered(err) {
		rest.Service = s.service(side.side)
	}
	return rest
}

// isUnanswered reports whether an error says that a request had no answer that can be used, as
// while a service is away.
func isUnanswered(err error) bool {
	return errors.Is(err, mapping.ErrUnavailable) || errors.Is(err, mapping.ErrUncertain)
}

// FactAway names in the log that requests to a service fail, which is one fact however many keys
// notice it.
const FactAway = "requests to a service fail"

// failed is the rest of a key whose attempt failed by itself.
func failed(err error) Rest { return Rest{Kind: RestFailed, Why: err.Error(), Err: err} }

func (e *requeueAfter) rest(err error) Rest {
	if e.turn {
		return Rest{Kind: RestInTurn, After: e.after, Why: e.why, Quiet: e.quiet}
	}
	return Rest{Kind: RestPutOff, After: e.after, Why: e.why, Err: err, Quiet: e.quiet}
}

// restOfLimit has a key come again at its turn, or, where many wait for the same moment, a
// little after it.
func restOfLimit(limited *mapping.RateLimited, err error) Rest {
	rest := Rest{Kind: RestLimited, After: limited.After, Spread: spread(limited), Why: err.Error()}
	if limited.Resource != "" {
		rest.Err = err // it is GitHub's limit, not a turn
	}
	return rest
}

func spread(limited *mapping.RateLimited) time.Duration {
	if limited.Turn {
		return 0
	}
	return limited.After/10 + time.Second
}

// Jitter draws a part of a duration.
func Jitter(random func(n int64) int64, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(random(int64(d)))
}

func (t *claimState) jitter(d time.Duration) time.Duration {
	return Jitter(func(n int64) int64 { return int64(t.drawn("jitter") % uint64(n)) }, d)
}
