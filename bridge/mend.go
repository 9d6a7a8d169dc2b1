package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
)

// The store keeps its indexes and counts where records are saved. What an earlier
// version stored is in none of them: the store is mended when that is seen. Beside
// that it is mended now and then, by which a wrong count is found, corrected and
// logged, whatever made it wrong.

const (
	// mendLook is how often the App looks whether a project is to be mended.
	mendLook = time.Minute
	// mendInterval is how often a project is mended that needs it not.
	mendInterval = 6 * time.Hour
	// mendLease bounds how long others leave a project to a process that died.
	mendLease = 5 * time.Minute
)

// mendStore sees to the store's indexes until ctx ends.
func (a *App) mendStore(ctx context.Context) {
	next := map[mapping.ObjectID]time.Time{} // when each project is mended whatever its state
	tick := time.NewTicker(mendLook)
	defer tick.Stop()
	for {
		for _, project := range a.set.Load().Routes.Projects() {
			if next[project].IsZero() {
				next[project] = a.o.Now().Add(mendInterval)
			}
			mended, err := a.mendProject(ctx, project, a.o.Now().After(next[project]))
			if mended {
				next[project] = a.o.Now().Add(mendInterval)
			}
			if err != nil && ctx.Err() == nil {
				a.log.Warn("mending the store", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// mendProject mends a project that is due, or that an earlier version stored, and
// reports whether it did. One replica does at a time.
func (a *App) mendProject(ctx context.Context, project mapping.ObjectID, due bool) (mended bool, err error) {
	t, err := a.store.Tally(ctx, project)
	if err != nil {
		return false, err
	}
	indexed := t.Links != nil
	if indexed && !due {
		return false, nil
	}
	lease := "mend:" + string(project)
	if held, err := a.store.Acquire(ctx, lease, a.owner, mendLease); err != nil || !held {
		return false, err
	}
	defer func() {
		if e := a.store.Release(context.WithoutCancel(ctx), lease, a.owner); e != nil {
			err = errors.Join(err, fmt.Errorf("lease %s: %w", lease, e))
		}
	}()
	began := a.o.Now()
	if err := a.store.Mend(ctx, project); err != nil {
		return false, err
	}
	if !indexed {
		a.log.Info("what an earlier version stored is indexed", "project", project, "took", a.o.Now().Sub(began))
	}
	return true, nil
}
