package bridge

import (
	"context"
	"slices"
	"time"

	"planbridge/bridge/catchup"
	"planbridge/mapping"
)

// firstRunOf records when each route began to run: what was last touched
// before is left alone. now is by this process's clock. A store that was lost is
// told again what this process knows, or what people made while it was away
// would never enter.
func (a *App) firstRunOf(ctx context.Context, set *settings, now time.Time) error {
	for _, r := range set.Routes.All() {
		began, known := a.knownFirstRun(r.Name)
		if !known {
			began = catchup.FirstRun{At: now, Ours: true}
		}
		t, err := catchup.EnsureFirstRun(ctx, a.store, r, began, a.github.ClockAhead)
		if err != nil {
			return err
		}
		a.firstRuns.Store(r.Name, t)
	}
	return nil
}

// tellFirstRuns records when routes began to run that a reload brought, and
// makes those right that were recorded before GitHub told its time.
func (a *App) tellFirstRuns(ctx context.Context, set *settings) error {
	_, clock := a.github.ClockAhead()
	news := func(r *mapping.Route) bool {
		f, known := a.knownFirstRun(r.Name)
		return !known || f.Ours && clock
	}
	if !slices.ContainsFunc(set.Routes.All(), news) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return a.firstRunOf(ctx, set, set.made)
}

// knownFirstRun is what this process has read from the store, or told it.
func (a *App) knownFirstRun(route string) (catchup.FirstRun, bool) {
	t, known := a.firstRuns.Load(route)
	if !known {
		return catchup.FirstRun{}, false
	}
	return t.(catchup.FirstRun), true
}

// firstRun is when a route began to run, as well as this process knows; zero
// before the store was reached.
func (a *App) firstRun(route string) time.Time {
	f, _ := a.knownFirstRun(route)
	if ahead, known := a.github.ClockAhead(); known {
		f = f.ByGitHub(ahead)
	}
	return f.At
}

// firstRunByGitHub is firstRun, or zero while it is only known by this
// process's own clock: what a catch-up found too old by that, it would not
// look at again.
func (a *App) firstRunByGitHub(route string) time.Time {
	f, _ := a.knownFirstRun(route)
	if _, clock := a.github.ClockAhead(); f.Ours && !clock {
		return time.Time{}
	}
	return a.firstRun(route)
}

// clockWanted reports whether a first run waits for GitHub to tell its time.
func (a *App) clockWanted() bool {
	_, clock := a.github.ClockAhead()
	return !clock && slices.ContainsFunc(a.set.Load().Routes.All(), func(r *mapping.Route) bool {
		f, _ := a.knownFirstRun(r.Name)
		return f.Ours
	})
}
