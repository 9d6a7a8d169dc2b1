package retention

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/lease"
	"planbridge/mapping"
	"planbridge/store"
)

// Saving a record updates the store's indexes and counts. An earlier version's records are in
// none of them. The store is repaired when that is noticed. It is also repaired at intervals,
// which corrects and logs a wrong count of any cause.

const (
	// repairLook is how often projects are checked for a due repair.
	repairLook = time.Minute
	// repairInterval is how often a sound project is repaired.
	repairInterval = 6 * time.Hour
	// repairLease bounds how long other replicas wait for one that died during a repair.
	repairLease = 5 * time.Minute
)

// Indexes are the indexes and counts of a store.
type Indexes interface {
	Tally(ctx context.Context, project mapping.ObjectID) (store.Tally, error)
	// Repair repairs the indexes and counts of a project.
	Repair(ctx context.Context, project mapping.ObjectID) error
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error)
	Release(ctx context.Context, name, owner string) error
	// Projects lists the projects with data in the store, configured or not.
	Projects(ctx context.Context) ([]mapping.ObjectID, error)
}

// RepairOptions configure a Repairer. All fields but Session are required.
type RepairOptions struct {
	Store   Indexes
	Session lease.Session // with which a lease ends; nil: it ends by time only
	Owner   string        // identifies this replica in leases
	Clock   clock.Clock
	Logger  *slog.Logger
	Guard   *guard.Guard
}

// Repairer keeps the store's indexes right.
type Repairer struct{ o RepairOptions }

// NewRepairer makes a Repairer.
func NewRepairer(o RepairOptions) *Repairer { return &Repairer{o} }

// Run repairs the store's indexes until ctx ends.
func (r *Repairer) Run(ctx context.Context) {
	next := map[mapping.ObjectID]time.Time{} // when each project is repaired whatever its state
	tick := time.NewTicker(repairLook)
	defer tick.Stop()
	for {
		if err := r.repairDue(ctx, next); err != nil && ctx.Err() == nil {
			r.o.Logger.Warn("repairing the indexes of the store", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// repairDue repairs the store's due projects, configured or not: entering issues are searched in all
// of them.
func (r *Repairer) repairDue(ctx context.Context, next map[mapping.ObjectID]time.Time) error {
	projects, err := r.o.Store.Projects(ctx)
	for _, project := range projects {
		if next[project].IsZero() {
			next[project] = r.o.Clock.Now().Add(repairInterval)
		}
		repaired, e := r.project(ctx, project, r.o.Clock.Now().After(next[project]))
		if repaired {
			next[project] = r.o.Clock.Now().Add(repairInterval)
		}
		err = errors.Join(err, e)
	}
	return err
}

// project repairs a project that is due, or has records of an earlier version. It reports whether
// it did. One replica at a time does.
func (r *Repairer) project(ctx context.Context, project mapping.ObjectID, due bool) (repaired bool, err error) {
	t, err := r.o.Store.Tally(ctx, project)
	if err != nil {
		return false, err
	}
	indexed := t.Links != nil
	if indexed && !due {
		return false, nil
	}
	l := &lease.Lease{
		Clock: r.o.Clock, Store: r.o.Store, Session: r.o.Session, Owner: r.o.Owner, TTL: repairLease,
		Name: "mend:" + string(project), // earlier versions use this name
	}
	began := r.o.Clock.Now()
	err = l.Alone(ctx, r.o.Guard, "repair of the indexes of", string(project), func(ctx context.Context) error {
		return r.o.Store.Repair(ctx, project)
	})
	if errors.Is(err, lease.ErrTaken) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !indexed {
		r.o.Logger.Info("what an earlier version stored is indexed", "project", project, "took", r.o.Clock.Now().Sub(began))
	}
	return true, nil
}
