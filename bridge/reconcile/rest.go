package reconcile

import (
	"errors"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

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
