package retention

import (
	"context"
	"time"

	"planbridge/bridge/jobs"
	"planbridge/bridge/status"
)

// lookEvery is how often Run checks whether a pass is due.
const lookEvery = time.Hour

// Run removes unneeded data from the store until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	for {
		if err := k.passWhenDue(ctx); err != nil && ctx.Err() == nil {
			k.o.Logger.Warn("removing what nothing needs any more; to be tried again", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookEvery):
		}
	}
}

// passWhenDue runs a due pass as a job, and waits for its end.
func (k *Keeper) passWhenDue(ctx context.Context) error {
	due, err := k.Due(ctx)
	if err != nil || !due {
		return err
	}
	first := status.Job{Kind: "retention", Doing: "waiting for the lease"}
	_, err = k.o.Jobs.Run(ctx, first, "retention", func(ctx context.Context, j *jobs.Job) error {
		return k.Pass(ctx, func(what string) { j.Doing("%s", what) })
	})
	return err
}
