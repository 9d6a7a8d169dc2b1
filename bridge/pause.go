package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/store"
)

// A paused route's keys are taken, from webhooks and polls alike, and wait: as
// for a service that is away, but until an operator resumes the route. The
// store keeps it; a replica learns of it within watchInterval.

// docPaused names the document, in the space of no project, that says since
// when a route is paused; empty where it is not.
func docPaused(route string) string { return "paused:" + route }

// Pause makes a route's keys wait until Resume. store.ErrNotFound where there
// is no such route.
func (o *Operator) Pause(ctx context.Context, route string) error {
	return o.setPaused(ctx, route, time.Now().UTC().Format(time.RFC3339))
}

// Resume ends a pause; what waited is worked at once.
func (o *Operator) Resume(ctx context.Context, route string) error {
	return o.setPaused(ctx, route, "")
}

func (o *Operator) setPaused(ctx context.Context, route, since string) error {
	if o.set().Routes.ByName(route) == nil {
		return fmt.Errorf("route %s: %w", route, store.ErrNotFound)
	}
	if since != "" {
		if was, err := o.pausedSince(ctx, route); err != nil || !was.IsZero() {
			return err
		}
	}
	if err := o.store.PutDoc(ctx, "", docPaused(route), []byte(since)); err != nil {
		return fmt.Errorf("pause or resume route %s: %w", route, err)
	}
	o.paused(route, since != "")
	if since != "" {
		return nil
	}
	for _, project := range o.set().projects() {
		if _, err := o.store.Wake(ctx, project, reconcile.ServicePaused(route), wakePerSecond); err != nil {
			return fmt.Errorf("resume route %s: %w", route, err)
		}
	}
	o.kick()
	return nil
}

func (o *Operator) pausedSince(ctx context.Context, route string) (time.Time, error) {
	doc, err := o.store.Doc(ctx, "", docPaused(route))
	if errors.Is(err, store.ErrNotFound) || err == nil && len(doc) == 0 {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("pause of route %s: %w", route, err)
	}
	at, err := time.Parse(time.RFC3339, string(doc))
	if err != nil {
		return time.Time{}, fmt.Errorf("pause of route %s: %w", route, err)
	}
	return at, nil
}

// Paused tells since when each paused route is.
func (o *Operator) Paused(ctx context.Context) (map[string]time.Time, error) {
	out := map[string]time.Time{}
	for _, r := range o.Routes() {
		at, err := o.pausedSince(ctx, r.Name)
		if err != nil {
			return nil, err
		}
		if !at.IsZero() {
			out[r.Name] = at
		}
	}
	return out, nil
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
