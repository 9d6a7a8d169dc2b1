package bridge

import (
	"context"
	"strings"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// visible takes in what an event says of who can read a repository, and takes up
// what was withheld where it may be private again.
func (a *App) visible(ctx context.Context, repo string, public bool) {
	if !a.github.repositories.SeeVisibility(ctx, repo, public) {
		return
	}
	a.takeUp(ctx, func(parked string, _ *mapping.Route) bool { return strings.EqualFold(parked, repo) })
	for _, project := range a.set.Load().Routes.Projects() {
		a.milestones.SprintsChanged(project) // sprints that changed meanwhile
	}
}

// allowed reports that a route may show planning's side anywhere by now, or is gone.
func allowed(_ string, route *mapping.Route) bool { return route == nil || route.AllowPublic }

// takeUpPrivate asks, for what is withheld, whether its repository is private again:
// the event that tells may have been lost.
func (a *App) takeUpPrivate(ctx context.Context) {
	public := map[string]bool{}
	a.takeUp(ctx, func(repo string, route *mapping.Route) bool {
		if _, asked := public[repo]; !asked && !allowed(repo, route) {
			public[repo] = a.github.repositories.AskPublic(ctx, repo)
		}
		return allowed(repo, route) || !public[repo]
	})
}

// takeUpMost is how many parked keys of a project are looked through.
const takeUpMost = 100_000

// takeUp makes the keys due that are parked as a repository is public, where may
// says so of that and of the key's route.
func (a *App) takeUp(ctx context.Context, may func(repo string, route *mapping.Route) bool) {
	set := a.set.Load()
	for _, project := range set.Routes.Projects() {
		failures, err := a.store.Failures(ctx, project, takeUpMost)
		if err != nil {
			return
		}
		n := 0
		for _, f := range failures {
			repo, ok := reconcile.PublicRepo(f)
			if !ok || !may(repo, set.Routes.ByName(f.Route)) {
				continue
			}
			if err := a.store.Enqueue(ctx, f.Key, time.Duration(n)*time.Second/store.WakePerSecond, false); err != nil {
				a.log.Warn("taking up what was withheld", "repo", repo, "err", err)
				continue
			}
			n++
		}
		if n > 0 {
			a.log.Info("what was withheld is looked at again", "project", project, "keys", n)
			a.engine.Kick()
			a.milestones.SprintsChanged(project)
		}
	}
}
