package catchup

import (
	"context"
	"slices"
	"sync"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// GitHubClock says how far GitHub's clock is ahead of this process's, once GitHub has reported
// its time.
type GitHubClock interface {
	ClockAhead() (ahead time.Duration, known bool)
}

// RouteSource returns the routes that hold now.
type RouteSource interface {
	Routes() mapping.Routes
}

// FirstRuns knows when each route began to run. It is safe for concurrent use.
type FirstRuns struct {
	store   store.State
	routes  RouteSource
	clock   GitHubClock
	byRoute sync.Map // a route's identity: FirstRunTime
}

// NewFirstRuns returns a FirstRuns that has read nothing yet.
func NewFirstRuns(s store.State, routes RouteSource, clock GitHubClock) *FirstRuns {
	return &FirstRuns{store: s, routes: routes, clock: clock}
}

// Record records when each route began to run: older, untouched items are left alone. now is
// by this process's clock. A lost store gets this process's times again, as items that people
// made during the outage would never enter otherwise.
func (f *FirstRuns) Record(ctx context.Context, routes []*mapping.Route, now time.Time) error {
	for _, r := range routes {
		began, known := f.cached(r.Identity())
		if !known {
			began = FirstRunTime{At: now, Ours: true}
		}
		t, err := EnsureFirstRun(ctx, f.store, r, began, f.clock.ClockAhead)
		if err != nil {
			return err
		}
		f.byRoute.Store(r.Identity(), t)
	}
	return nil
}

// Update records, as made, the first runs of routes that a reload brought. It corrects those
// that were recorded before GitHub reported its time.
func (f *FirstRuns) Update(ctx context.Context, routes []*mapping.Route, made time.Time) error {
	_, clock := f.clock.ClockAhead()
	news := func(r *mapping.Route) bool {
		began, known := f.cached(r.Identity())
		return !known || began.Ours && clock
	}
	if !slices.ContainsFunc(routes, news) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return f.Record(ctx, routes, made)
}

// cached is a route's first run as this process has read or written it.
func (f *FirstRuns) cached(id string) (FirstRunTime, bool) {
	t, known := f.byRoute.Load(id)
	if !known {
		return FirstRunTime{}, false
	}
	return t.(FirstRunTime), true
}

// At is when a route began to run, as well as this process knows; zero
// before the store was reached.
func (f *FirstRuns) At(route string) time.Time {
	began, _ := f.cached(f.routes.Routes().IdentityOf(route))
	if ahead, known := f.clock.ClockAhead(); known {
		began = began.ByGitHub(ahead)
	}
	return began.At
}

// ByGitHub is At, or zero while only this process's own clock gives it. A catch-up would not
// look again at an issue that it found too old by that clock.
func (f *FirstRuns) ByGitHub(route string) time.Time {
	began, _ := f.cached(f.routes.Routes().IdentityOf(route))
	if _, clock := f.clock.ClockAhead(); began.Ours && !clock {
		return time.Time{}
	}
	return f.At(route)
}

// WaitForClock reports whether a first run waits for GitHub's time.
func (f *FirstRuns) WaitForClock(routes []*mapping.Route) bool {
	_, clock := f.clock.ClockAhead()
	return !clock && slices.ContainsFunc(routes, func(r *mapping.Route) bool {
		began, _ := f.cached(r.Identity())
		return began.Ours
	})
}
