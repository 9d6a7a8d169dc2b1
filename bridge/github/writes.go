package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
)

// budgetPatience is how long a request waits in place for its budget or its points, and
// budgetPatients how many do at once. The caller puts off what must wait longer, or with
// more, so that nobody's slot and lease are kept for it.
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

// Reserve takes a write of a class from the budget, and its points, ahead of the reads that
// come before it. Its errors are those of the write.
func (c *Client) Reserve(ctx context.Context, class WriteClass) error {
	k := call{op: "reserve", object: string(class), class: classWrite}
	err := c.wire.ready(ctx, k)
	if err == nil {
		err = c.afford(ctx, k, class)
	}
	if err != nil {
		return k.wrap(err)
	}
	return nil
}

// admit lets a request leave, as far as limits and points go. Writes go one at a time, at the
// client's pace and within the shared budget. Its errors say that nothing was sent.
//
// What the request would meet anyway is asked first, so that it spends nothing. The turn to
// write is taken last: nobody waits for anything else while others wait for it.
func (c *Client) admit(ctx context.Context, k call) (leave func(), err error) {
	meets := c.wire.gate.check
	if k.class.writes() {
		meets = c.wire.ready
	}
	if err := meets(ctx, k); err != nil {
		return nil, err
	}
	if !k.class.writes() {
		return func() {}, c.pacer.spend(ctx, k)
	}
	if !k.paid && (c.share == nil || !c.share.UseReserved(ctx, k.writeClass())) {
		if err := c.afford(ctx, k, k.writeClass()); err != nil {
			return nil, err
		}
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: waiting for a turn: %w", mapping.ErrUnavailable, ctx.Err())
	}
	leave = func() { <-c.turn }
	if err := c.pace(ctx); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// afford takes what a write needs. Points can be given back and come before the budget, which
// cannot.
func (c *Client) afford(ctx context.Context, k call, class WriteClass) error {
	if err := c.pacer.spend(ctx, k); err != nil {
		return err
	}
	err := c.spend(ctx, class)
	if err != nil {
		c.pacer.giveBack(ctx, k)
	}
	return err
}

// spend takes one write from the shared budget.
func (c *Client) spend(ctx context.Context, class WriteClass) error {
	if c.share == nil {
		return nil
	}
	var waited time.Duration
	for {
		d, err := c.share.TakeWrite(ctx, class)
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

// bounded is a context for what is not to take longer.
func bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
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
