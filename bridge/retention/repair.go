package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// The store keeps its indexes and counts where records are saved. What an earlier
// version stored is in none of them: the store is repaired when that is seen. Beside
// that it is repaired now and then, by which a wrong count is found, corrected and
// logged, whatever made it wrong.

const (
	// repairLook is how often it is looked whether a project is to be repaired.
	repairLook = time.Minute
	// repairInterval is how often a project is repaired that needs it not.
	repairInterval = 6 * time.Hour
	// repairLease bounds how long others leave a project to a process that died.
	repairLease = 5 * time.Minute
)

// Indexes are the indexes and counts of a store.
type Indexes interface {
	Tally(ctx context.Context, project mapping.ObjectID) (store.Tally, error)
	// Repair repairs those of a project.
	Repair(ctx context.Context, project mapping.ObjectID) error
	Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error)
	Release(ctx context.Context, name, owner string) error
	// Projects lists the projects that have a space in the store, configured or not.
	Projects(ctx context.Context) ([]mapping.ObjectID, error)
}

// RepairOptions configure a Repairer. All fields are required.
type RepairOptions struct {
	Store  Indexes
	Owner  string // names this replica in leases
	Now    func() time.Time
	Logger *slog.Logger
}

// Repairer keeps the store's indexes right.
type Repairer struct{ o RepairOptions }

// NewRepairer makes a Repairer.
func NewRepairer(o RepairOptions) *Repairer { return &Repairer{o} }

// Run sees to the store's indexes until ctx ends.
func (r *Repairer) Run(ctx context.Context) {
	next := map[mapping.ObjectID]time.Time{} // when each project is repaired whatever its state
	tick := time.NewTicker(repairLook)
	defer tick.Stop()
	for {
		if err := r.look(ctx, next); err != nil && ctx.Err() == nil {
			r.o.Logger.Warn("repairing the indexes of the store", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look repairs the projects of the store that are due, also those that the configuration does
// not name any more: issues that enter are looked for in all.
func (r *Repairer) look(ctx context.Context, next map[mapping.ObjectID]time.Time) error {
	projects, err := r.o.Store.Projects(ctx)
	for _, project := range projects {
		if next[project].IsZero() {
			next[project] = r.o.Now().Add(repairInterval)
		}
		repaired, e := r.project(ctx, project, r.o.Now().After(next[project]))
		if repaired {
			next[project] = r.o.Now().Add(repairInterval)
		}
		err = errors.Join(err, e)
	}
	return err
}

// project repairs a project that is due, or that an earlier version stored, and
// reports whether it did. One replica does at a time.
func (r *Repairer) project(ctx context.Context, project mapping.ObjectID, due bool) (repaired bool, err error) {
	t, err := r.o.Store.Tally(ctx, project)
	if err != nil {
		return false, err
	}
	indexed := t.Links != nil
	if indexed && !due {
		return false, nil
	}
	lease := "mend:" + string(project) // as earlier versions spell it
	if held, err := r.o.Store.Acquire(ctx, lease, r.o.Owner, repairLease); err != nil || !held {
		return false, err
	}
	defer func() {
		if e := r.o.Store.Release(context.WithoutCancel(ctx), lease, r.o.Owner); e != nil {
			err = errors.Join(err, fmt.Errorf("lease %s: %w", lease, e))
		}
	}()
	began := r.o.Now()
	if err := r.o.Store.Repair(ctx, project); err != nil {
		return false, err
	}
	if !indexed {
		r.o.Logger.Info("what an earlier version stored is indexed", "project", project, "took", r.o.Now().Sub(began))
	}
	return true, nil
}
