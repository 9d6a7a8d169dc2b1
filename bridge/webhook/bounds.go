package webhook

import (
	"context"
	"sync"
	"time"
)

// bounds gives deliveries a context that ends after the timeout, or up to a hundredth
// of it before: those that come one after the other share one, since a timer for each,
// and a place in its request's context, costs as much as the log line. That its sender
// has gone does not end it: what has been read is worth keeping. It is safe for
// concurrent use.
type bounds struct {
	timeout time.Duration

	mu    sync.Mutex
	ctx   context.Context
	until time.Time // when the next one begins
}

func (b *bounds) context() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); !now.Before(b.until) {
		ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
		context.AfterFunc(ctx, cancel) // which frees nothing by then; one that is never called looks like a mistake
		b.ctx, b.until = ctx, now.Add(b.timeout/100)
	}
	return b.ctx
}
