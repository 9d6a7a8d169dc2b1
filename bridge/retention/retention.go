// Package retention takes out of the store what nothing needs any more. Its door is
// [Keeper].
//
// A pass works in pages, on one replica at a time, and begins once in [Every]. What it
// removes it first proves not to be needed; each file says by what. What it was
// interrupted in, the next pass does.
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"planbridge/bridge/guard"
	"planbridge/bridge/jobs"
	"planbridge/mapping"
	"planbridge/store"
)

// Every is the least time between the beginnings of two whole passes.
const Every = 24 * time.Hour

const (
	leaseName = "retention"
	// leaseTTL is longer than a page takes.
	leaseTTL = time.Minute
	// docLast names the document, in the space of no project, that says when the last
	// whole pass began.
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

// Rules say what is kept for how long.
type Rules struct {
	// Ledger is how long a conflict stays; 0: for ever.
	Ledger time.Duration
	// Archive is the file to which expired conflicts are appended first; "": none.
	Archive string
}

// Needs tells what is needed still.
type Needs interface {
	Rules() Rules
	// Families lists the kinds of documents that are named after something else, given
	// the names that links carry.
	Families(ctx context.Context, carried Names) []Family
	// Items lists the sets of marks of a project's items, given what links carry; none
	// where the project cannot be looked through now.
	Items(ctx context.Context, project mapping.ObjectID, carried Names) ([]Items, error)
	// RetireMilestones sees to a project's book of milestones.
	RetireMilestones(ctx context.Context, project mapping.ObjectID) error
}

// Options configure a Keeper. All fields are required.
type Options struct {
	Store  Store
	Owner  string // names this replica in leases
	Needs  Needs
	Jobs   *jobs.Runner // runs the passes of Run
	Logger *slog.Logger
	Guard  *guard.Guard // shows what could not be done among the failures
}

// Keeper does the passes. It is safe for concurrent use.
type Keeper struct{ o Options }

// New returns a Keeper; nothing runs until Run or Pass.
func New(o Options) *Keeper { return &Keeper{o} }

// Due reports whether a pass is to begin. A store that was never asked begins to count
// now: at a first start there is nothing to remove.
func (k *Keeper) Due(ctx context.Context) (bool, error) {
	data, err := k.o.Store.Doc(ctx, "", docLast)
	if errors.Is(err, store.ErrNotFound) {
		return false, k.began(ctx, time.Now().UTC())
	}
	if err != nil {
		return false, fmt.Errorf("retention: %w", err)
	}
	last, err := time.Parse(time.RFC3339, string(data))
	now := time.Now()
	return err != nil || last.After(now) || now.Sub(last) >= Every, nil
}

// errTaken ends a pass whose lease another replica has.
var errTaken = errors.New("another replica sees to what is kept")

// Pass does one pass, unless another replica is at it. doing is told what is being
// done. One part that fails keeps no other from being done.
func (k *Keeper) Pass(ctx context.Context, doing func(what string)) error {
	err := k.pass(ctx, doing)
	if errors.Is(err, errTaken) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("retention: %w", err)
	}
	return nil
}

func (k *Keeper) pass(ctx context.Context, doing func(what string)) error {
	p := &pass{Keeper: k, now: time.Now().UTC()}
	if err := p.hold(ctx); err != nil {
		return err
	}
	defer k.release(ctx)
	if due, err := k.Due(ctx); err != nil || !due {
		return err // it was done while this replica waited for the lease
	}
	var err error
	if p.projects, err = k.o.Store.Projects(ctx); err != nil {
		return err
	}
	var failed []error
	part := func(what string, project mapping.ObjectID, do func() error) {
		if errors.Is(errors.Join(failed...), errTaken) || ctx.Err() != nil {
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
			return errors.Join(p.hold(ctx), p.o.Needs.RetireMilestones(ctx, project))
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
	k.o.Logger.Info("retention: a pass is done", "took", time.Since(p.now))
	return nil
}

// began notes when the last whole pass began.
func (k *Keeper) began(ctx context.Context, at time.Time) error {
	if err := k.o.Store.PutDoc(ctx, "", docLast, []byte(at.Format(time.RFC3339))); err != nil {
		return fmt.Errorf("store document %s: %w", docLast, err)
	}
	return nil
}

// pass is one pass at work.
type pass struct {
	*Keeper
	now      time.Time // when it began
	projects []mapping.ObjectID
	names    Names     // see carried
	held     time.Time // when the lease was extended
}

// hold keeps the lease, and is called for each thing that is looked at; errTaken: another
// replica has it.
func (p *pass) hold(ctx context.Context) error {
	asked := time.Now()
	if asked.Sub(p.held) < leaseTTL/6 {
		return nil
	}
	held, err := p.o.Store.Acquire(ctx, leaseName, p.o.Owner, leaseTTL)
	if err != nil {
		return fmt.Errorf("lease %s: %w", leaseName, err)
	}
	if !held {
		return errTaken
	}
	p.held = asked
	return nil
}

// release gives the lease back, for another replica to go on where this one ends.
func (k *Keeper) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = k.o.Store.Release(ctx, leaseName, k.o.Owner) // else it runs out
}
