package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/store"
)

// A paused route's keys are taken, from webhooks and polls alike, and wait: as
// for a service that is away, but until an operator resumes the route. The
// store keeps it; a replica learns of it within seconds.

// DocPaused names the document, in the space of no project, that says since
// when a route is paused; empty where it is not.
func DocPaused(route string) string { return "paused:" + route }

// Pause makes a route's keys wait until Resume. store.ErrNotFound where there
// is no such route.
func (o *Operator) Pause(ctx context.Context, route string) error {
	return o.setPaused(ctx, route, o.now().UTC().Format(time.RFC3339))
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
		if was, err := o.PausedSince(ctx, route); err != nil || !was.IsZero() {
			return err
		}
	}
	if err := o.store.PutDoc(ctx, "", DocPaused(route), []byte(since)); err != nil {
		return fmt.Errorf("pause or resume route %s: %w", route, err)
	}
	o.process.NotePaused(route, since != "")
	if since != "" {
		return nil
	}
	for _, project := range o.projects() {
		if _, err := o.store.Wake(ctx, project, reconcile.ServicePaused(route), store.WakePerSecond); err != nil {
			return fmt.Errorf("resume route %s: %w", route, err)
		}
	}
	o.process.Kick()
	return nil
}

// PausedSince tells since when a route is paused; zero: it is not.
func (o *Operator) PausedSince(ctx context.Context, route string) (time.Time, error) {
	doc, err := o.store.Doc(ctx, "", DocPaused(route))
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
		at, err := o.PausedSince(ctx, r.Name)
		if err != nil {
			return nil, err
		}
		if !at.IsZero() {
			out[r.Name] = at
		}
	}
	return out, nil
}
