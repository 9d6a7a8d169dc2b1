package planning

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"planbridge/mapping"
)

// Request has the facts of a request that decide the meaning of its answer.
type Request struct {
	What   string // for errors, "update card 5447…"
	Writes bool

	// Username is the writer, and Sent lists the written fields, so that a refusal's message can
	// be understood.
	Username string
	Sent     []string
}

// Request is the request that makes the items.
func (n *Creation) Request() Request {
	what := "create task on card "
	switch {
	case n.Cards && n.Batch:
		what = "create cards in bucket "
	case n.Cards:
		what = "create card in bucket "
	}
	return Request{what + string(n.In), true, n.Username, []string{"title", "summary", "estimate"}}
}

// Request is the request that makes the update.
func (u *Write) Request() Request {
	what := "update task "
	if u.Card {
		what = "update card "
	}
	return Request{what + string(u.ID), true, u.Username, u.fields()}
}

// Failed wraps an error of the request.
func (r *Request) Failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("planning: %s: %w", r.What, err)
}

// CheckID refuses ids that a path cannot contain: "" and ".." name other resources.
func CheckID(id mapping.ObjectID) error {
	if strings.Trim(string(id), ".") == "" {
		return &mapping.Rejection{Message: "not an id: " + strconv.Quote(string(id))}
	}
	return nil
}

// Fault returns the error of an answer other than 2xx; after is its Retry-After, and said its
// message:
//
//	3xx                            moved; after a write 302 and 303 may say "done, see there"
//	401, 403                       the secret is refused (403 also: no such project)
//	404, 410                       not found, gone
//	429, 503 with Retry-After      leave it alone for a while
//	408, 425, other 5xx            unavailable; a write: outcome unknown
//	other 4xx, and 401 403 404     the value is refused, in the service's words
//	  with a message about the username
func (r *Request) Fault(status int, after, said string, now time.Time) error {
	fault := mapping.ErrUnavailable
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && after != "":
		why := "status " + strconv.Itoa(status)
		if after != "" {
			why = "Retry-After"
		}
		return &mapping.RateLimited{API: "planning", After: retryAfter(after, now), Why: why}
	case status/100 == 5 || status == http.StatusRequestTimeout || status == http.StatusTooEarly:
		if r.Writes {
			fault = mapping.ErrUncertain
		}
		return &outage{err: withMessage(fault, status, said)}
	case status/100 == 3:
		fault = mapping.ErrMoved
		if r.Writes && (status == http.StatusFound || status == http.StatusSeeOther) {
			fault = mapping.ErrUncertain
		}
	case status/100 != 4: // 1xx that ended a request
		return r.Misread(fmt.Errorf("status %d", status))
	case r.Writes && namesUser(said, r.Username):
		return &mapping.Rejection{Status: status, Field: "username", Message: said}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		fault = mapping.ErrUnauthorized
	case status == http.StatusNotFound:
		fault = mapping.ErrNotFound
	case status == http.StatusGone:
		fault = mapping.ErrGone
	default:
		return &mapping.Rejection{Status: status, Field: namedField(said, r.Sent), Message: said}
	}
	return withMessage(fault, status, said)
}

// Misread is the error of an answer without meaning.
func (r *Request) Misread(err error) error { return misread(r.Writes, err) }

func misread(write bool, err error) error {
	fault := mapping.ErrUnavailable
	if write {
		fault = mapping.ErrUncertain
	}
	return fmt.Errorf("%w: answer not understood: %w", fault, err)
}
