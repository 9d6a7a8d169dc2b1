package bridge

import (
	"context"
	"time"

	"planbridge/bridge/jobs"
	"planbridge/bridge/retention"
	"planbridge/bridge/status"
)

// retainEvery is how often it is looked whether a pass of the retention is due.
const retainEvery = time.Hour

func (a *App) buildRetention() {
	a.retention = retention.New(retention.Options{
		Store: a.store, Owner: a.owner, Logger: a.log, Guard: a.guard,
		Rules: func() retention.Rules {
			c := a.set.Load().config
			return retention.Rules{Ledger: c.LedgerRetention, Archive: c.LedgerArchive}
		},
		Families: a.families, Items: a.items, Milestones: a.reconcile.RetireMilestones,
	})
}

// retain takes out of the store what nothing needs any more, until ctx ends.
func (a *App) retain(ctx context.Context) {
	for {
		if err := a.retainNow(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("removing what nothing needs any more; to be tried again", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(retainEvery):
		}
	}
}

// retainNow does a pass as a job, where one is due, and waits for its end.
func (a *App) retainNow(ctx context.Context) error {
	due, err := a.retention.Due(ctx)
	if err != nil || !due {
		return err
	}
	first := status.Job{Kind: "retention", Doing: "waiting for the lease"}
	ended := make(chan error, 1)
	_, err = a.jobs.Start(first, "retention", func(ctx context.Context, j *jobs.Job) (err error) {
		defer func() { ended <- err }()
		return a.retention.Pass(ctx, func(what string) { j.Doing("%s", what) })
	})
	if err != nil {
		return err
	}
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
