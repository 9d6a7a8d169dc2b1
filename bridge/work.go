package bridge

import (
	"context"

	"planbridge/bridge/effects"
	"planbridge/bridge/engine"
	"planbridge/bridge/session"
	"planbridge/mapping"
)

// newSession makes what keeps this process's session.
func (a *App) newSession() *session.Keeper {
	return session.New(session.Options{Store: a.store, Logger: a.log, Guard: a.guard, Kick: func() { a.engine.Kick() }})
}

// work begins what needs to know which account is the bridge's own, and works the queues
// until ctx ends. The session lasts until what is in hand then is handed back.
func (a *App) work(ctx context.Context) {
	if !a.account.Await(ctx) {
		return
	}
	a.spawn(ctx, "catch-up", a.catchUp.Run)
	a.spawn(ctx, "milestones", a.milestones.Run)
	if !a.o.DryRun {
		a.spawn(ctx, "retention", a.retention.Run) // which login is ours is known by now, if ever
	}
	a.session.During(ctx, func() {
		a.guard.Keep(ctx, "queue", func() { a.engine.Run(ctx, a.o.Drain) })
	})
}

// InHand is how many keys this process works at the moment.
func (a *App) InHand() int { return a.engine.InHand() }

// host is the App as the engine knows it.
type host struct{ app *App }

func (h host) Projects() []mapping.ObjectID { return h.app.set.Load().Routes.Projects() }

func (h host) Retry() engine.Retry {
	r := h.app.set.Load().config.Retry
	return engine.Retry{MaxAttempts: r.MaxAttempts, MaxInterval: r.MaxInterval}
}

func (h host) Waits(ctx context.Context, project mapping.ObjectID, service string) {
	h.app.requeue.WakeIfReady(ctx, project, service)
}

func (a *App) planningOf(id mapping.ObjectID) effects.Planning {
	p := a.projects.get(id)
	if p == nil {
		return nil
	}
	return p.side
}
