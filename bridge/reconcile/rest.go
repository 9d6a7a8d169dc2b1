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

// Rest is how a worked key comes to rest, as far as the two sides decide it. The engine turns
// it into an outcome from the attempts, the pauses and the services.
type Rest struct {
	Kind RestKind
	// After is when the key is due again; 0 with RestAgreed: it is not.
	After time.Duration
	// Spread is a random extra delay at most, so that not all keys come at once.
	Spread time.Duration
	// Service is the service that a blocked key waits for. With RestFailed it is the service
	// whose request failed.
	Service string
	// Why is the reason that an operator sees.
	Why string
	// Err is the failure, or the reason of a delay; nil: none.
	Err   error
	Quiet bool // logged before
}

// RestKind is the kind of a [Rest].
type RestKind int

// The kinds of a [Rest].
const (
	// RestAgreed: the sides agree, or everything possible is done.
	RestAgreed RestKind = iota
	// RestRemoved: the link never came to be and is removed.
	RestRemoved
	// RestPutOff: the key is due again after a while. A key that is put off too often fails.
	RestPutOff
	// RestInTurn is RestPutOff for a wait that ends for certain, however often it repeats.
	RestInTurn
	// RestLimited: a service or a budget accepts no more for a while.
	RestLimited
	// RestBlocked: the key waits until its service is woken.
	RestBlocked
	// RestParked: the key waits for a change of its items, or for an operator's retry.
	RestParked
	// RestHeld: the key waits for an operator's retry.
	RestHeld
	// RestFailed: the attempt failed.
	RestFailed
	// RestLost: this process no longer owns the lease, and must finish nothing.
	RestLost
)

// situation decides, beside an error, how a key comes to rest.
type situation struct {
	project mapping.ObjectID
	over    bool // the time of the claim
	unmade  bool // the link has one item, and nothing was sent for it
	// down reports whether a service is known to be away; nil: none is.
	down func(service string) bool
}

// service is the name of a side as a service.
func (s situation) service(side mapping.Side) string {
	if side == mapping.GitHub {
		return ServiceGitHub
	}
	return ServicePlanning(s.project)
}

// isDown reports whether an error says that a whole service is away. That is one fact, and no
// failure of this key.
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

// isUnanswered reports whether an error says that a request got no usable answer, as while a
// service is away.
func isUnanswered(err error) bool {
	return errors.Is(err, mapping.ErrUnavailable) || errors.Is(err, mapping.ErrUncertain)
}

// FactAway names, in the log, the fact that requests to a service fail, however many keys meet
// it.
const FactAway = "requests to a service fail"

// FactRefused names, in the log, the fact that a service refuses the token or the secret.
const FactRefused = "a service refuses the secret"

// FactInTurn names, in the log, the fact that keys wait for their turn of a budget.
const FactInTurn = "keys wait for their turn"

// failed is the rest of a key whose own attempt failed.
func failed(err error) Rest { return Rest{Kind: RestFailed, Why: err.Error(), Err: err} }

func (e *requeueAfter) rest(err error) Rest {
	if e.turn {
		return Rest{Kind: RestInTurn, After: e.after, Why: e.why, Quiet: e.quiet}
	}
	return Rest{Kind: RestPutOff, After: e.after, Why: e.why, Err: err, Quiet: e.quiet}
}

// restOfLimit makes a key due at its turn. Where many keys wait for the same moment, it is due
// a little later.
func restOfLimit(limited *mapping.RateLimited, err error) Rest {
	rest := Rest{Kind: RestLimited, After: limited.After, Spread: spread(limited), Why: limited.Reason()}
	if limited.Resource != "" {
		rest.Err = err // it is GitHub's limit, not a turn
	}
	return rest
}

func spread(limited *mapping.RateLimited) time.Duration {
	if limited.Turn || limited.Joint {
		return 0
	}
	return limited.After/10 + time.Second
}

// Jitter returns a random part of a duration.
func Jitter(random func(n int64) int64, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(random(int64(d)))
}

func (t *claimState) jitter(d time.Duration) time.Duration {
	return Jitter(func(n int64) int64 { return int64(t.drawn("jitter") % uint64(n)) }, d)
}
