package bridge

import (
	"context"
	"time"

	"planbridge/bridge/effects"
	"planbridge/bridge/session"
	"planbridge/bridge/settings"
	"planbridge/mapping"
)

// newSession makes the keeper of this process's session.
func (a *App) newSession() *session.Keeper {
	return session.New(session.Options{Store: a.store, Logger: a.log, Guard: a.guard, Queue: operatorHost{a}})
}

// work begins the loops that need to know which account is the bridge's own. It works the queues
// until ctx ends and the keys in hand are handed back.
func (a *App) work(ctx context.Context) {
	if !a.account.Await(ctx) {
		return
	}
	a.spawn(ctx, "catch-up", a.catchUp.Run)
	a.spawn(ctx, "milestones", a.milestones.Run)
	if !a.o.DryRun {
		a.spawn(ctx, "retention", a.retention.Run) // the bridge's own login is known by now, if ever
	}
	a.guard.Keep(ctx, "queue", func() { a.engine.Run(ctx, a.o.Drain) })
}

// InHand is how many keys this process works at the moment.
func (a *App) InHand() int { return a.engine.InHand() }

// host is the App as the engine and its core know it.
type host struct {
	*settings.Current
	app *App
}

func (h host) Waits(ctx context.Context, project mapping.ObjectID, service string) {
	h.app.requeue.WakeIfReady(ctx, project, service)
}

func (h host) FirstRun(route string) time.Time { return h.app.firstRuns.At(route) }

func (h host) Paused(route string) bool { return h.app.pauses.Paused(route) }

func (h host) Down(service string) bool { return clients{h.app}.Down(service) }

func (h host) CardExists(project, card mapping.ObjectID) { h.app.projects.exists(project, card) }

func (h host) IssueMoved(ctx context.Context, from, to string) error {
	return h.app.github.Registry.IssueMoved(ctx, from, to)
}

func (h host) Planning(project mapping.ObjectID) effects.Planning {
	if p := h.app.projects.get(project); p != nil {
		return p.side
	}
	return nil
}
