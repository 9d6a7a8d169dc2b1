package bridge

import (
	"context"
	"maps"
	"slices"

	"planbridge/bridge/effects"
	"planbridge/bridge/poll"
	"planbridge/bridge/session"
	"planbridge/bridge/settings"
	"planbridge/mapping"
)

// newSession makes what keeps this process's session.
func (a *App) newSession() *session.Keeper {
	return session.New(session.Options{Store: a.store, Logger: a.log, Guard: a.guard, Queue: process{a}})
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
type host struct {
	*settings.Current
	app *App
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

// seenCards are the cards of a project that polls remember.
func (a *App) seenCards(ctx context.Context, project mapping.ObjectID) (cards []mapping.ObjectID, err error) {
	marks, err := a.store.Marks(ctx, project, poll.SetCards)
	for _, id := range slices.Sorted(maps.Keys(marks)) {
		cards = append(cards, mapping.ObjectID(id))
	}
	return cards, err
}
