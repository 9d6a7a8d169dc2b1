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

	"planbridge/bridge/guard"
	"planbridge/bridge/jobs"
	"planbridge/mapping"
	"planbridge/store"
)

// Every is the least time between the starts of two whole passes.
const Every = 24 * time.Hour

const (
	leaseName = "retention"
	// leaseTTL is longer than a page takes.
	leaseTTL = time.Minute
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

// Options configure a Keeper. All fields are required.
type Options struct {
	Store  Store
	Owner  string // identifies this replica in leases
	Needs  Needs
	Jobs   *jobs.Runner // runs the passes of Run
	Logger *slog.Logger
	Guard  *guard.Guard // shows failed parts among the failures
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
		return false, k.began(ctx, time.Now().UTC())
	}
	if err != nil {
		return false, fmt.Errorf("retention: %w", err)
	}
	last, err := time.Parse(time.RFC3339, string(data))
	now := time.Now()
	return err != nil || last.After(now) || now.Sub(last) >= Every, nil
}

// errTaken ends a pass when another replica has its lease.
var errTaken = errors.New("another replica sees to what is kept")

// Pass runs one pass, unless another replica does. It reports progress to doing. A part that
// fails does not stop the others.
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
		return err // another replica ran it during the wait for the lease
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
	names    Names     // see carried
	held     time.Time // when the lease was extended
}

// hold keeps the lease, and is called for each item. It returns errTaken where another replica
// has the lease.
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

// release gives the lease back, so that another replica can start the next pass.
func (k *Keeper) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = k.o.Store.Release(ctx, leaseName, k.o.Owner) // otherwise it expires
}
