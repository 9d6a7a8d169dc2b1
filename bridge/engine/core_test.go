package engine

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// core runs the functions that a test sets; the zero value agrees at once.
type core struct {
	work    func(ctx context.Context, c *store.Claim, l Lease) reconcile.Result
	refused func(link *mapping.Link, err error) *reconcile.Rest
}

var _ Core = core{}

func (c core) Work(ctx context.Context, claim *store.Claim, l Lease) reconcile.Result {
	if c.work == nil {
		return reconcile.Result{Link: claim.Link}
	}
	return c.work(ctx, claim, l)
}

func (c core) Refused(_ *store.Claim, link *mapping.Link, err error) *reconcile.Rest {
	if c.refused == nil {
		return &reconcile.Rest{Kind: reconcile.RestFailed, Why: err.Error(), Err: err}
	}
	return c.refused(link, err)
}

func (core) CutOff(link *mapping.Link, _ time.Time) { link.Why = "cut off" }

func (core) Log(*store.Claim) *slog.Logger { return slog.New(slog.DiscardHandler) }

// host is a program with some projects.
type host []mapping.ObjectID

func (h host) Projects() []mapping.ObjectID { return h }

func (host) Retry() Retry { return Retry{MaxAttempts: 12, MaxInterval: 5 * time.Minute} }

func (host) Waits(context.Context, mapping.ObjectID, string) {}

// Alive says that the process has a session, and Bound that it never ends.
func (host) Alive() bool { return true }

func (host) Bound(ctx context.Context, _ store.Session) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

func (host) Did(*mapping.Link, []mapping.Entry) {}

// newEngine is an engine with one slot.
func newEngine(s store.Store, c Core, projects ...mapping.ObjectID) *Engine {
	h := host(projects)
	return New(Options{
		Core: c, Host: h, Store: s, Session: h, Logger: slog.New(slog.DiscardHandler), Metrics: NewMetrics(nil), Clock: clock.Runtime{}, Observer: h, Concurrency: 1,
	})
}

// newStore is a store that nobody else has.
func newStore() *memstore.Store {
	return memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
}

// inBackground runs an engine until stop is called, which waits for its end.
func inBackground(e *Engine) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.Run(ctx, time.Minute)
	}()
	return func() {
		cancel()
		<-ended
	}
}
