package planningmodel

import (
	"fmt"
	"slices"
	"strings"
)

// The statuses of answers where the traits do not say otherwise.
const (
	statusBadRequest = 400
	statusForbidden  = 403
	statusNotFound   = 404
	statusConflict   = 409
	statusFailure    = 500
)

// Refusal is the service's refusal of a call.
type Refusal struct {
	Status int // of the answer
	Words  string
}

func (e *Refusal) Error() string { return fmt.Sprintf("%d: %s", e.Status, e.Words) }

func refuse(status int, format string, args ...any) error {
	return &Refusal{status, fmt.Sprintf(format, args...)}
}

// Conflict refuses an update because attributes are not at the versions that it
// says (4.2 rule 3; neither status nor shape is documented).
type Conflict struct {
	Status       int
	Shape        ConflictShape
	Item         Item   // as it stands
	Names, Stale []Attr // the attributes of the update, and those at another version
}

func (e *Conflict) Error() string {
	var words strings.Builder
	words.WriteString("version conflict: ")
	for i, name := range e.Stale {
		if i > 0 {
			words.WriteString(", ")
		}
		fmt.Fprintf(&words, "%s is at version %d", name, e.Item.Attrs[name].Version)
	}
	return words.String()
}

// Session is the API of one project, for a caller with a secret of it. Its methods are the
// endpoints of the document's part 4; each is one act.
type Session struct {
	p     *Project
	limit int
}

// Open finds the project that a secret opens (part 5: 403 also where the
// project does not exist).
func (s *Service) Open(project, secret string) (Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.project(project)
	if p == nil || !slices.Contains(p.secrets, secret) {
		return Session{}, refuse(statusForbidden, "not authorized")
	}
	return Session{p: p, limit: -1}, nil
}

// Failing is the session whose creates make the first n elements only, and then fail without a
// reason.
func (s Session) Failing(n int) Session { return Session{p: s.p, limit: n} }

// These are the checks of a write, one by one and in this order, for callers that read a request
// piece by piece. The writes make all of them.

// HasBucket checks that a bucket is there.
func (s Session) HasBucket(id string) error {
	s.p.s.mu.Lock()
	defer s.p.s.mu.Unlock()
	_, err := s.p.findBucket(id)
	return err
}

// Has checks that an item is there.
func (s Session) Has(k Kind, id string) error {
	s.p.s.mu.Lock()
	defer s.p.s.mu.Unlock()
	_, err := s.p.find(k, id)
	return err
}

// Member checks that somebody may write.
func (s Session) Member(user string) error {
	s.p.s.mu.Lock()
	defer s.p.s.mu.Unlock()
	return s.p.member(user)
}

// member checks that a write is in the name of a member who may write.
func (p *Project) member(user string) error {
	status := or(p.s.traits.UnknownUserStatus, statusBadRequest)
	switch {
	case user == "":
		return refuse(status, "username is required")
	case !slices.Contains(p.members, user):
		return refuse(status, "user %q has no write permission in this project", user)
	}
	return nil
}

func (p *Project) missing(what string) error {
	return refuse(or(p.s.traits.MissingItemStatus, statusNotFound), "no such %s", what)
}

// Refused refuses a value.
func (t *Traits) Refused(format string, args ...any) error {
	return refuse(or(t.RefusalStatus, statusBadRequest), format, args...)
}

// find is the item of that kind that a call names.
func (p *Project) find(k Kind, id string) (*item, error) {
	if it := p.items[id]; it != nil && it.kind == k {
		return it, nil
	}
	return nil, p.missing(k.String())
}

// findBucket is the bucket that a call names.
func (p *Project) findBucket(id string) (*Bucket, error) {
	t := &p.s.traits
	for _, b := range p.buckets {
		if id == b.ID && (!t.BucketIDsDiffer || t.BucketIDAccepted != BucketIDListing) ||
			id == b.ListingID && t.BucketIDsDiffer && t.BucketIDAccepted != BucketIDState {
			return b, nil
		}
	}
	return nil, p.missing("bucket")
}
