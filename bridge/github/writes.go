package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
)

// budgetPatience is how long a write waits in place for the shared budget, and
// budgetPatients how many do at once; what must wait longer, or with more, is put
// off by the caller, so that nobody's seat and lease are kept for it.
const (
	budgetPatience = 2 * time.Second
	budgetPatients = 2
)

// WriteClass says which budget a write is taken from.
type WriteClass string

// The classes. GitHub counts as content what notifies people.
const (
	ClassContent WriteClass = "content" // makes an issue or a comment
	ClassEdit    WriteClass = "edit"    // any other write
)

func (k call) writeClass() WriteClass {
	if k.op == "create_issue" || k.op == "create_comment" {
		return ClassContent
	}
	return ClassEdit
}

// Reserve takes a write of a class from the budget ahead of the reads that come
// before it. Its errors are those of the write.
func (c *Client) Reserve(ctx context.Context, class WriteClass) error {
	k := call{op: "reserve", object: string(class), class: classWrite}
	err := c.wire.ready(ctx, k)
	if err == nil {
		err = c.spend(ctx, class)
	}
	if err != nil {
		return k.wrap(err)
	}
	return nil
}

// acquireWrite lets one write at a time through, at the client's pace and within
// the shared budget. Its errors say that nothing was sent.
func (c *Client) acquireWrite(ctx context.Context, k call) (release func(), err error) {
	// A write that would not leave anyway must not spend the budget.
	if err := c.wire.ready(ctx, k); err != nil {
		return nil, err
	}
	if err := c.spend(ctx, k.writeClass()); err != nil {
		return nil, err
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: waiting for a turn: %w", mapping.ErrUnavailable, ctx.Err())
	}
	release = func() { <-c.turn }
	if err := c.pace(ctx); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// spend takes one write from the shared budget.
func (c *Client) spend(ctx context.Context, class WriteClass) error {
	if c.budget == nil {
		return nil
	}
	var waited time.Duration
	for {
		d, err := c.budget(ctx, class)
		if limited := (*mapping.RateLimited)(nil); errors.As(err, &limited) {
			return err
		}
		if err != nil {
			return fmt.Errorf("%w: write budget: %w", mapping.ErrUnavailable, err)
		}
		if d <= 0 {
			return nil
		}
		if waited == 0 && c.wire.metrics.Waits != nil {
			c.wire.metrics.Waits.WithLabelValues(string(class)).Inc()
		}
		if waited += d; waited > budgetPatience || waited == d && !waitsInPlace(c.patient) {
			return &mapping.RateLimited{API: "github", After: d, Why: "write budget", Turn: true}
		}
		if waited == d {
			defer func() { <-c.patient }()
		}
		if err := wait(ctx, d, "write budget"); err != nil {
			return err
		}
	}
}

// waitsInPlace lets one more wait in place, where there is room.
func waitsInPlace(patient chan struct{}) bool {
	select {
	case patient <- struct{}{}:
		return true
	default:
		return false
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
