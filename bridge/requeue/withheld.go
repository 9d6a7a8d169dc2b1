package requeue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// TakeUpRepository makes due the keys withheld in a repository that may be private again.
func (r *Requeuer) TakeUpRepository(ctx context.Context, repo string) {
	r.takeUp(ctx, func(parked string, _ *mapping.Route) bool { return strings.EqualFold(parked, repo) })
	for _, project := range r.o.Settings.Routes().Projects() {
		r.o.Sprints.SprintsChanged(project) // sprints that changed meanwhile
	}
}

// TakeUpAllowed makes due the withheld keys of routes that now allow public repositories.
func (r *Requeuer) TakeUpAllowed(ctx context.Context) { r.takeUp(ctx, allowed) }

// allowed reports whether a route may now show planning's texts anywhere, or is gone.
func allowed(_ string, route *mapping.Route) bool { return route == nil || route.AllowPublic }

// TakeUpPrivate checks whether the repositories of withheld keys are private again: the event may
// have been lost.
func (r *Requeuer) TakeUpPrivate(ctx context.Context) {
	public := map[string]bool{}
	r.takeUp(ctx, func(repo string, route *mapping.Route) bool {
		if _, asked := public[repo]; !asked && !allowed(repo, route) {
			public[repo] = r.o.Repositories.AskPublic(ctx, repo)
		}
		return allowed(repo, route) || !public[repo]
	})
}

// TakeUpFailed makes due the keys of changed routes that failed: those that were given up, and those
// that wait for another attempt. It returns their number.
func (r *Requeuer) TakeUpFailed(ctx context.Context, changed []mapping.RouteChange) (n int, err error) {
	if len(changed) == 0 {
		return 0, nil
	}
	is := func(route string) bool {
		return slices.ContainsFunc(changed, func(c mapping.RouteChange) bool { return c.Name == route })
	}
	for _, project := range r.o.Settings.Routes().Projects() {
		failures, err := r.o.Store.Failures(ctx, project, takeUpMost)
		if err != nil {
			return n, err
		}
		later, err := r.o.Store.Standings(ctx, project, takeUpMost)
		if err != nil {
			return n, err
		}
		var keys []store.Key
		for _, f := range failures {
			if _, withheld := reconcile.PublicRepo(f); is(f.Route) && !withheld {
				keys = append(keys, f.Key)
			}
		}
		for i := range later {
			if is(later[i].Route) && reconcile.Failing(&later[i]) && later[i].State == store.KeyLater {
				keys = append(keys, later[i].Key)
			}
		}
		for i, key := range keys {
			if err := r.enqueue(ctx, key, i); err != nil {
				return n, err
			}
			n++
		}
	}
	r.o.Queue.Kick()
	return n, nil
}

// enqueue makes a key due, as the nth of many. One that is gone needs nothing.
func (r *Requeuer) enqueue(ctx context.Context, key store.Key, n int) error {
	err := r.o.Store.Enqueue(ctx, key, time.Duration(n)*time.Second/store.EnqueuePerSecond, false)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// takeUpMost bounds the keys of one state that are searched in a project.
const takeUpMost = 100_000

// takeUp makes due the keys parked since a repository is public, where may allows the repository
// and the route.
func (r *Requeuer) takeUp(ctx context.Context, may func(repo string, route *mapping.Route) bool) {
	routes := r.o.Settings.Routes()
	for _, project := range routes.Projects() {
		failures, err := r.o.Store.Failures(ctx, project, takeUpMost)
		if err != nil {
			return
		}
		n := 0
		for _, f := range failures {
			repo, ok := reconcile.PublicRepo(f)
			if !ok || !may(repo, routes.ByName(f.Route)) {
				continue
			}
			if err := r.enqueue(ctx, f.Key, n); err != nil {
				r.o.Logger.Warn("taking up what was withheld", "repo", repo, "err", err)
				continue
			}
			n++
		}
		if n > 0 {
			r.o.Logger.Info("what was withheld is looked at again", "project", project, "keys", n)
			r.o.Queue.Kick()
			r.o.Sprints.SprintsChanged(project)
		}
	}
}
