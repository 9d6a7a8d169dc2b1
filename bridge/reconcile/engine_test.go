package reconcile_test

import (
	"context"

	"planbridge/bridge/effects"
	"planbridge/bridge/engine"
	"planbridge/mapping"
	"planbridge/store"
)

// host is the program around an engine that works a reconciler's keys.
type host struct {
	projects func() []mapping.ObjectID
	retry    engine.Retry
	waits    func(ctx context.Context, project mapping.ObjectID, service string) // nil: nobody is told
}

func (h *host) Projects() []mapping.ObjectID { return h.projects() }

func (h *host) Retry() engine.Retry { return h.retry }

func (h *host) Waits(ctx context.Context, project mapping.ObjectID, service string) {
	if h.waits != nil {
		h.waits(ctx, project, service)
	}
}

func (h *host) Did(*mapping.Link, []mapping.Entry) {}

// Alive says that the process has a session, and Bound that it never ends.
func (h *host) Alive() bool { return true }

func (h *host) Bound(ctx context.Context, _ store.Session) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// engineOf is an engine over a reconciler and its store.
func engineOf(r *effects.Shell, h *host, concurrency int) *engine.Engine {
	return engine.New(engine.Options{
		Core: r, Host: h, Store: r.Store, Session: h, Logger: r.Logger, Metrics: engine.NewMetrics(nil), Clock: r.Clock, Observer: h, Concurrency: concurrency,
	})
}
