package github

import (
	"context"
	"fmt"
	"time"

	"planbridge/mapping"
)

// budgetPatience is how long a write waits in place for the shared budget;
// what must wait longer is put off by the caller.
const budgetPatience = 2 * time.Second

// takeTurn lets one write at a time through, at the client's pace and within
// the shared budget. Its errors say that nothing was sent.
func (c *Client) takeTurn(ctx context.Context) (release func(), err error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: waiting for a turn: %w", mapping.ErrUnavailable, ctx.Err())
	}
	release = func() { <-c.turn }
	// A write that would not leave anyway must not spend the budget.
	if err = c.wire.ready(classWrite); err == nil {
		if err = c.spend(ctx); err == nil {
			err = c.pace(ctx)
		}
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// spend takes one write from the shared budget.
func (c *Client) spend(ctx context.Context) error {
	if c.budget == nil {
		return nil
	}
	var waited time.Duration
	for {
		d, err := c.budget(ctx)
		if err != nil {
			return fmt.Errorf("%w: write budget: %w", mapping.ErrUnavailable, err)
		}
		if d <= 0 {
			return nil
		}
		if waited += d; waited > budgetPatience {
			return &mapping.RateLimited{API: "github", After: d, Why: "write budget"}
		}
		if err := wait(ctx, d, "write budget"); err != nil {
			return err
		}
	}
}

// pace keeps the pause between writes.
func (c *Client) pace(ctx context.Context) error {
	if c.pause == nil {
		return nil
	}
	r := c.pause.Reserve()
	if err := wait(ctx, r.Delay(), "write pause"); err != nil {
		r.Cancel()
		return err
	}
	return nil
}

// wait sleeps d where ctx lasts that long; else it answers RateLimited at once.
func wait(ctx context.Context, d time.Duration, why string) error {
	if d <= 0 {
		return nil
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return &mapping.RateLimited{API: "github", After: d, Why: why}
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %s: %w", mapping.ErrUnavailable, why, ctx.Err())
	}
}
