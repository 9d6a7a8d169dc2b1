package catchup

import (
	"context"
	"slices"
	"sync"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// GitHubClock tells by how much GitHub's clock is ahead of this process's, once GitHub told.
type GitHubClock interface {
	ClockAhead() (ahead time.Duration, known bool)
}

// Routes tell the routes that hold now.
type Routes interface {
	Routes() mapping.Routes
}

// FirstRuns knows when each route began to run. It is safe for concurrent use.
type FirstRuns struct {
	store   store.State
	routes  Routes
	clock   GitHubClock
	byRoute sync.Map // a route's identity: FirstRun
}

// NewFirstRuns returns a FirstRuns that has read nothing yet.
func NewFirstRuns(s store.State, routes Routes, clock GitHubClock) *FirstRuns {
	return &FirstRuns{store: s, routes: routes, clock: clock}
}

// Record records when each route began to run: what was last touched
// before is left alone. now is by this process's clock. A store that was lost is
// told again what this process knows, or what people made while it was away
// would never enter.
func (f *FirstRuns) Record(ctx context.Context, routes []*mapping.Route, now time.Time) error {
	for _, r := range routes {
		began, known := f.known(r.Identity())
		if !known {
			began = FirstRun{At: now, Ours: true}
		}
		t, err := EnsureFirstRun(ctx, f.store, r, began, f.clock.ClockAhead)
		if err != nil {
			return err
		}
		f.byRoute.Store(r.Identity(), t)
	}
	return nil
}

// Update records when routes began to run (at made) that a reload brought, and
// makes those right that were recorded before GitHub told its time.
func (f *FirstRuns) Update(ctx context.Context, routes []*mapping.Route, made time.Time) error {
	_, clock := f.clock.ClockAhead()
	news := func(r *mapping.Route) bool {
		began, known := f.known(r.Identity())
		return !known || began.Ours && clock
	}
	if !slices.ContainsFunc(routes, news) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return f.Record(ctx, routes, made)
}

// known is what this process has read from the store, or told it.
func (f *FirstRuns) known(id string) (FirstRun, bool) {
	t, known := f.byRoute.Load(id)
	if !known {
		return FirstRun{}, false
	}
	return t.(FirstRun), true
}

// At is when a route began to run, as well as this process knows; zero
// before the store was reached.
func (f *FirstRuns) At(route string) time.Time {
	began, _ := f.known(f.routes.Routes().IdentityOf(route))
	if ahead, known := f.clock.ClockAhead(); known {
		began = began.ByGitHub(ahead)
	}
	return began.At
}

// ByGitHub is At, or zero while it is only known by this
// process's own clock: what a catch-up found too old by that, it would not
// look at again.
func (f *FirstRuns) ByGitHub(route string) time.Time {
	began, _ := f.known(f.routes.Routes().IdentityOf(route))
	if _, clock := f.clock.ClockAhead(); began.Ours && !clock {
		return time.Time{}
	}
	return f.At(route)
}

// WaitForClock reports whether a first run waits for GitHub to tell its time.
func (f *FirstRuns) WaitForClock(routes []*mapping.Route) bool {
	_, clock := f.clock.ClockAhead()
	return !clock && slices.ContainsFunc(routes, func(r *mapping.Route) bool {
		began, _ := f.known(r.Identity())
		return began.Ours
	})
}
