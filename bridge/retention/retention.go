// Package retention removes unneeded data from the store. Its entry point is [Keeper].
//
// A pass works in pages, on one replica at a time, and begins once in [Every]. It first proves
// that data is not needed; each file says how. The next pass completes an interrupted one.
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/jobs"
	"planbridge/bridge/lease"
	"planbridge/mapping"
	"planbridge/store"
)

// Every is the least time between the starts of two whole passes.
const Every = 24 * time.Hour

const (
	leaseName = "retention"
	leaseTTL  = time.Minute
	// docLast names the document, in the space of no project, with the start of the last whole
	// pass.
	docLast = "retention"
)

// Store is the part of the store that a pass works on.
type Store interface {
	store.Links
	store.Ledger
	store.State
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error)
	Release(ctx context.Context, name, owner string) error
	Projects(ctx context.Context) ([]mapping.ObjectID, error)
}

// Rules say how long data is kept.
type Rules struct {
	// Ledger is how long a conflict stays; 0: for ever.
	Ledger time.Duration
	// Archive is the file to which expired conflicts are appended first; "": none.
	Archive string
}

// Needs knows which data is still needed.
type Needs interface {
	Rules() Rules
	// Families lists the kinds of documents that are named after something else, given the names
	// in links.
	Families(ctx context.Context, carried Names) []Family
	// Items lists the sets of marks of a project's items, given the names in links. It returns
	// none where the project cannot be searched now.
	Items(ctx context.Context, project mapping.ObjectID, carried Names) ([]Items, error)
	// RetireMilestones removes unneeded entries of a project's book of milestones.
	RetireMilestones(ctx context.Context, project mapping.ObjectID) error
}

// Options configure a Keeper. All fields but Session are required.
type Options struct {
	Store   Store
	Session lease.Session // with which the lease ends; nil: it ends by time only
	Owner   string        // identifies this replica in leases
	Clock   clock.Clock
	Needs   Needs
	Jobs    *jobs.Runner // runs the passes of Run
	Logger  *slog.Logger
	Guard   *guard.Guard // shows failed parts among the failures
}

// Keeper runs the passes. It is safe for concurrent use.
type Keeper struct{ o Options }

// New returns a Keeper. Nothing runs until Run or Pass.
func New(o Options) *Keeper { return &Keeper{o} }

// Due reports whether a pass must begin. In a new store the interval starts now, as a first start
// has nothing to remove.
func (k *Keeper) Due(ctx context.Context) (bool, error) {
	data, err := k.o.Store.Doc(ctx, "", docLast)
	if errors.Is(err, store.ErrNotFound) {
		return false, k.began(ctx, k.o.Clock.Now().UTC())
	}
	if err != nil {
		return false, fmt.Errorf("retention: %w", err)
	}
	last, err := time.Parse(time.RFC3339, string(data))
	now := k.o.Clock.Now()
	return err != nil || last.After(now) || now.Sub(last) >= Every, nil
}

// Pass runs one pass, unless another replica does. It reports progress to doing. A part that
// fails does not stop the others. A pass that loses its lease ends.
func (k *Keeper) Pass(ctx context.Context, doing func(what string)) error {
	l := &lease.Lease{Clock: k.o.Clock, Store: k.o.Store, Session: k.o.Session, Name: leaseName, Owner: k.o.Owner, TTL: leaseTTL}
	err := l.Alone(ctx, k.o.Guard, "retention", "", func(ctx context.Context) error { return k.pass(ctx, doing) })
	if err != nil && !errors.Is(err, lease.ErrTaken) {
		return fmt.Errorf("retention: %w", err)
	}
	return nil
}

// pass runs one pass under its lease, with which ctx ends.
func (k *Keeper) pass(ctx context.Context, doing func(what string)) error {
	p := &pass{Keeper: k, now: k.o.Clock.Now().UTC()}
	if due, err := k.Due(ctx); err != nil || !due {
		return err // another replica ran it during the wait for the lease
	}
	var err error
	if p.projects, err = k.o.Store.Projects(ctx); err != nil {
		return err
	}
	var failed []error
	part := func(what string, project mapping.ObjectID, do func() error) {
		if ctx.Err() != nil {
			return
		}
		doing(strings.TrimSpace(what + " " + string(project)))
		failed = append(failed, k.o.Guard.Do(what, string(project), do))
	}
	for _, project := range p.projects {
		part("expiry of the ledger of", project, func() error { return p.expire(ctx, project) })
	}
	for _, project := range p.projects {
		part("retiring milestones of", project, func() error {
			return p.o.Needs.RetireMilestones(ctx, project)
		})
	}
	for _, project := range p.projects {
		part("removal of what is remembered of items that are gone of", project, func() error { return p.forgetGone(ctx, project) })
	}
	part("removal of documents that nothing needs", "", func() error { return p.forget(ctx) })
	if err := errors.Join(append(failed, ctx.Err())...); err != nil {
		return err
	}
	if err := k.began(ctx, p.now); err != nil {
		return err
	}
	k.o.Logger.Info("retention: a pass is done", "took", k.o.Clock.Now().Sub(p.now))
	return nil
}

// began stores the start of the last whole pass.
func (k *Keeper) began(ctx context.Context, at time.Time) error {
	if err := k.o.Store.PutDoc(ctx, "", docLast, []byte(at.Format(time.RFC3339))); err != nil {
		return fmt.Errorf("store document %s: %w", docLast, err)
	}
	return nil
}

// pass is one running pass.
type pass struct {
	*Keeper
	now      time.Time // when it began
	projects []mapping.ObjectID
	names    Names // see carried
}
