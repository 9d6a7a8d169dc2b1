package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
)

// budgetPatience is how long a request waits in place for its budget or its points, and
// budgetPatients how many requests do so at once. A request that must wait longer is put off by
// its caller, so that it keeps no slot and no lease.
const (
	budgetPatience = 2 * time.Second
	budgetPatients = 2
)

// WriteClass is the budget of a write.
type WriteClass string

// The classes. GitHub counts writes that notify people as content.
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

// Reserve takes a write of a class from the budget, and its points, before the reads that precede
// it. Its errors are those of the write.
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

// admit lets a request leave, within limits and points. Writes go one at a time, at the client's
// pace and within the shared budget. An error says that nothing was sent.
//
// admit first checks for failures that the request would meet anyway, so that those spend
// nothing. It takes the turn to write last, so that its holder waits for nothing else.
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
	if err := takeTurn(ctx, c.turn, "waiting for a turn"); err != nil {
		return nil, err
	}
	leave = func() { <-c.turn }
	if err := c.pace(ctx); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// afford takes the points and the budget of a write. Points come first, as only they can be
// returned.
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

// waitsInPlace lets one more request wait in place, where there is room.
func waitsInPlace(patient chan struct{}) bool {
	select {
	case patient <- struct{}{}:
		return true
	default:
		return false
	}
}

// bounded returns a context with a timeout.
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

// wait sleeps for d where ctx lasts that long. Otherwise it returns RateLimited at once.
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
	case <-ctx.Done():
	}
	return ended(ctx, why)
}

// takeTurn waits for a turn. It returns an error, and has no turn, where ctx ended before it came or
// in the same moment.
func takeTurn(ctx context.Context, turn chan struct{}, why string) error {
	select {
	case turn <- struct{}{}:
		if ctx.Err() == nil { // select takes any of two ready cases
			return nil
		}
		<-turn
	case <-ctx.Done():
	}
	return ended(ctx, why)
}

// ended returns the error of a wait whose ctx ended, else nil.
func ended(ctx context.Context, why string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %s: %w", mapping.ErrUnavailable, why, err)
	}
	return nil
}
