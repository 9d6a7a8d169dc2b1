package reconcile_test

import (
	"context"

	"planbridge/bridge/effects"
	"planbridge/bridge/engine"
	"planbridge/mapping"
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

// engineOf is an engine over a reconciler and its store.
func engineOf(r *effects.Shell, h *host, concurrency int) *engine.Engine {
	return engine.New(engine.Options{Core: r, Host: h, Store: r.Store, Logger: r.Logger, Clock: r.Clock, Concurrency: concurrency})
}
