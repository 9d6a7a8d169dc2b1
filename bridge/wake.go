package bridge

import (
	"context"
	"strings"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// wakeWaiting wakes the keys of projects that are adopted, and asks GitHub,
// while keys or first runs wait for it, whether it is back. (Planning is asked by its
// pollers.)
func (a *App) wakeWaiting(ctx context.Context) error {
	github := a.firstRuns.WaitForClock(a.set.Load().Routes.All())
	for _, project := range a.set.Load().Routes.Projects() {
		d, err := a.store.Depth(ctx, project)
		if err != nil {
			return err
		}
		github = github || d.Waiting[reconcile.ServiceGitHub] > 0
		for service := range mapping.Sorted(d.Waiting) {
			if a.resumed(service) {
				a.wake(ctx, project, service)
			}
		}
		if d.Waiting[reconcile.ServiceAdoption] == 0 {
			continue
		}
		a.waits(ctx, project, reconcile.ServiceAdoption)
	}
	if !github {
		return nil
	}
	if err := a.github.Probe(ctx); err != nil {
		return err
	}
	a.wakeGitHub(ctx)
	return nil
}

// waits wakes at once what waits for an adoption that came in the same moment.
func (a *App) waits(ctx context.Context, project mapping.ObjectID, service string) {
	if a.resumed(service) {
		a.wake(ctx, project, service)
	}
	if service != reconcile.ServiceAdoption {
		return
	}
	epoch, err := a.lost.Read(ctx)
	if err != nil {
		return
	}
	if doc, err := a.store.Doc(ctx, project, store.DocAdopted); err == nil && string(doc) == epoch {
		a.wake(ctx, project, reconcile.ServiceAdoption)
	}
}

func (a *App) wakeGitHub(ctx context.Context) {
	for _, project := range a.set.Load().Routes.Projects() {
		a.wake(ctx, project, reconcile.ServiceGitHub)
	}
}

func (a *App) wake(ctx context.Context, project mapping.ObjectID, service string) {
	n, err := a.store.Wake(ctx, project, service, store.WakePerSecond)
	if err != nil {
		a.log.Warn("waking what waited", "service", service, "err", err)
		return
	}
	if n > 0 {
		a.log.Info("a service is back", "service", service, "keys", n, "over", "keys wait")
		a.engine.Kick()
	}
}

// isPaused reports whether a route is paused, as far as this process knows.
func (a *App) isPaused(route string) bool {
	_, yes := a.pausedRoutes.Load(route)
	return yes
}

// notePaused remembers for this process whether a route is paused.
func (a *App) notePaused(route string, paused bool) {
	if !paused {
		a.pausedRoutes.Delete(route)
		return
	}
	if _, known := a.pausedRoutes.LoadOrStore(route, true); !known {
		a.log.Warn("route is paused: its changes are taken and wait", "route", route)
	}
}

// learnPaused takes over which routes are paused.
func (a *App) learnPaused(ctx context.Context) error {
	paused, err := a.Operator().Paused(ctx)
	if err != nil {
		return err
	}
	set := a.set.Load()
	for _, r := range set.Routes.All() {
		_, yes := paused[r.Name]
		a.notePaused(r.Name, yes)
	}
	a.pausedRoutes.Range(func(name, _ any) bool {
		if route, _ := name.(string); set.Routes.ByName(route) == nil {
			a.log.Warn("a paused route is configured no more: its links go on by the routes that take them", "route", route)
			a.notePaused(route, false)
		}
		return true
	})
	return nil
}

// resumed returns the route of a service that keys wait for, where that is a
// pause that is over.
func (a *App) resumed(service string) bool {
	route, isPause := strings.CutPrefix(service, reconcile.ServicePaused(""))
	return isPause && !a.isPaused(route)
}
