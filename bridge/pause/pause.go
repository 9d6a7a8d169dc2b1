// Package pause has the keys of a route wait until an operator resumes it.
//
// Its door is [New]. A paused route's keys are taken, from webhooks and polls alike, and wait: as
// for a service that is away, but until an operator resumes the route. The
// store keeps it; a replica learns of it within seconds.
package pause

import (
	"context"
	"fmt"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings tells the settings that hold now.
type Settings interface {
	Settings() *reconcile.Settings
}

// Process is the service that runs.
type Process interface {
	// Kick has the queue looked at now.
	Kick()
	// NotePaused is told that a route was paused or resumed.
	NotePaused(route string, paused bool)
}

// Documents is where pauses are kept.
type Documents interface {
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
}

// Options configure Pauses. All fields are required.
type Options struct {
	Store    store.Store
	Settings Settings
	Process  Process
	Now      func() time.Time
}

// Pauses pauses and resumes routes. It is safe for concurrent use.
type Pauses struct{ o Options }

// New makes a Pauses.
func New(o Options) *Pauses { return &Pauses{o} }

func (p *Pauses) set() *reconcile.Settings { return p.o.Settings.Settings() }

// DocPaused names the document, in the space of no project, that says since
// when a route of that identity is paused; empty where it is not.
func DocPaused(id string) string { return "paused:" + id }

// Pause makes a route's keys wait until Resume. store.ErrNotFound where there
// is no such route.
func (p *Pauses) Pause(ctx context.Context, route string) error {
	return p.setPaused(ctx, route, p.o.Now().UTC().Format(time.RFC3339))
}

// Resume ends a pause. Keys that waited become due behind live changes, at most
// store.WakePerSecond a second.
func (p *Pauses) Resume(ctx context.Context, route string) error {
	return p.setPaused(ctx, route, "")
}

func (p *Pauses) setPaused(ctx context.Context, route, since string) error {
	r := p.set().Routes.ByName(route)
	if r == nil {
		return fmt.Errorf("route %s: %w", route, store.ErrNotFound)
	}
	if since != "" {
		if was, err := p.PausedSince(ctx, route); err != nil || !was.IsZero() {
			return err
		}
	}
	if err := p.o.Store.PutDoc(ctx, "", DocPaused(r.Identity()), []byte(since)); err != nil {
		return fmt.Errorf("pause or resume route %s: %w", route, err)
	}
	p.o.Process.NotePaused(route, since != "")
	if since != "" {
		return nil
	}
	for _, project := range p.set().Routes.Projects() {
		if _, err := p.o.Store.Wake(ctx, project, reconcile.ServicePaused(r.Identity()), store.WakePerSecond); err != nil {
			return fmt.Errorf("resume route %s: %w", route, err)
		}
	}
	p.o.Process.Kick()
	return nil
}

// PausedSince tells since when a route is paused; zero: it is not.
func (p *Pauses) PausedSince(ctx context.Context, route string) (time.Time, error) {
	at, err := Since(ctx, p.o.Store, p.set().Routes.IdentityOf(route))
	if err != nil {
		return at, fmt.Errorf("pause of route %s: %w", route, err)
	}
	return at, nil
}

// Since tells since when the route of an identity is paused; zero: it is not.
func Since(ctx context.Context, s Documents, id string) (time.Time, error) {
	doc, err := store.ReadDoc(ctx, s, "", DocPaused(id))
	if err != nil || len(doc) == 0 {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, string(doc))
}

// Paused tells since when each paused route is.
func (p *Pauses) Paused(ctx context.Context) (map[string]time.Time, error) {
	out := map[string]time.Time{}
	for _, r := range p.set().Routes.All() {
		at, err := p.PausedSince(ctx, r.Name)
		if err != nil {
			return nil, err
		}
		if !at.IsZero() {
			out[r.Name] = at
		}
	}
	return out, nil
}
