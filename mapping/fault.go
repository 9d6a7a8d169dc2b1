package mapping

import (
	"errors"
	"strconv"
	"time"
)

// The errors of a request to a side. The adapters wrap exactly one of them into each error that
// they return. So the deciding packages tell errors apart without an adapter.
var (
	// ErrUnauthorized: the secret or token is refused. The request had no effect.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden: this item may not be touched (archived, locked, no right).
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound: the item is not there, or not for us (404).
	ErrNotFound = errors.New("not found")
	// ErrGone: the item was there and is deleted (410).
	ErrGone = errors.New("gone")
	// ErrMoved: the item answers from another place (a redirect).
	ErrMoved = errors.New("moved")
	// ErrRejected: the service understood and refuses the value.
	ErrRejected = errors.New("rejected")
	// ErrUnavailable: the service is down or its breaker is open, and the
	// request certainly had no effect.
	ErrUnavailable = errors.New("unavailable")
	// ErrUncertain: the answer was lost, cut, or not understood: a write may
	// or may not have had its effect.
	ErrUncertain = errors.New("outcome unknown")
)

// Refused reports whether an error is a service's final answer, so that asking again soon is
// useless.
func Refused(err error) bool {
	for _, target := range []error{ErrNotFound, ErrGone, ErrForbidden, ErrMoved, ErrRejected} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// RateLimited says that a side accepts no request for a while. The request had no effect.
type RateLimited struct {
	API   string        // "github" or "planning"
	After time.Duration // how long to wait, > 0
	Why   string        // which rule said so: "Retry-After", "primary limit", "write budget" …
	Turn  bool          // After is this key's own slot: no other key comes then
	Joint bool          // keys that are due then share requests, so that all are due at once
	// Resource is the kind of request that GitHub limits; "": no answer of GitHub said so.
	Resource string
}

// Service names the side for people.
func (e *RateLimited) Service() string {
	if e.API == string(GitHub) {
		return "GitHub"
	}
	return e.API
}

func (e *RateLimited) Error() string {
	return e.API + ": rate limited (" + e.Why + "), retry after " + e.After.Round(time.Millisecond).String()
}

// Reason says why a key waits, in the same words for all keys with the same reason.
func (e *RateLimited) Reason() string {
	if e.Turn {
		return "its turn has not come: " + e.Why
	}
	return e.Service() + " limits requests: " + e.Why
}

// MovedError says that an issue answers from another place. It matches
// [ErrMoved]. Fields that the answer did not tell are empty.
type MovedError struct {
	Repo     string // owner/name of the target
	Number   int    // of the target; that of a renamed repository's issue is unchanged
	Location string // the redirect's target, where the client did not follow it
	Issue    *Issue // the target, where the client followed it: the same ID after a rename, another after a transfer
}

// Known reports whether the answer told which issue is there.
func (e *MovedError) Known() bool { return e.Repo != "" && e.Number != 0 }

// Place names the target: acme/web#12, or an address.
func (e *MovedError) Place() string {
	if e.Known() {
		return e.Repo + "#" + strconv.Itoa(e.Number)
	}
	return e.Location
}

func (e *MovedError) Error() string { return "moved to " + e.Place() }

// Is reports whether target is [ErrMoved].
func (e *MovedError) Is(target error) bool { return target == ErrMoved }

// VersionConflict says that planning refused a write because an attribute
// version moved (docs/planning-api.md 4.2 rule 3). Current holds the values that the answer
// carried; it is empty where none could be found. The item has to be read then: where it has the
// versions that were sent, planning refused a value, and Message says why.
type VersionConflict struct {
	Current map[Attribute]Versioned
	Message string
}

func (e *VersionConflict) Error() string { return "version conflict" }

// Rejection carries the message of a service that refused a value. It matches [ErrRejected]. Field
// is the attribute or field that the message points at, "" where it names none.
type Rejection struct {
	Status  int
	Field   string
	Message string
}

func (e *Rejection) Error() string {
	if e.Message == "" {
		return "rejected"
	}
	return "rejected: " + e.Message
}

// Is reports whether target is [ErrRejected].
func (e *Rejection) Is(target error) bool { return target == ErrRejected }

// StrangerError says that another repository has the name of the intended one, which cannot be
// found. It matches [ErrForbidden]: the bridge did and must do nothing there.
type StrangerError struct {
	Repo      string // owner/name
	ID, Known int64  // of the repository that has the name, and of the intended one
}

func (e *StrangerError) Error() string {
	return "another repository (id " + strconv.FormatInt(e.ID, 10) + ") has the name " + e.Repo + " of the one with id " +
		strconv.FormatInt(e.Known, 10) + "; planbridge accept repository " + e.Repo + " believes it"
}

// Is reports whether target is [ErrForbidden].
func (e *StrangerError) Is(target error) bool { return target == ErrForbidden }
