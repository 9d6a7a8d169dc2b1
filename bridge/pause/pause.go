// Package pause has the keys of a route wait until an operator resumes it.
//
// Its entry point is [New]. Webhooks and polls still take in changes of a paused route's keys. The
// keys wait as for a service that is away, but until an operator resumes the route. The store keeps
// it; a replica learns of it within seconds.
package pause

import (
	"context"
	"fmt"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings has the present settings.
type Settings interface {
	Settings() *reconcile.Settings
}

// Process is the service that runs.
type Process interface {
	// Kick makes the workers check the queue now.
	Kick()
	// NotePaused records that a route was paused or resumed.
	NotePaused(route string, paused bool)
}

// Documents stores the pauses.
type Documents interface {
	Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error)
}

// Options configure Pauses. All fields are required.
type Options struct {
	Store    store.Store
	Settings Settings
	Process  Process
	Clock    clock.Clock
}

// Pauses pauses and resumes routes. It is safe for concurrent use.
type Pauses struct{ o Options }

// New makes a Pauses.
func New(o Options) *Pauses { return &Pauses{o} }

func (p *Pauses) set() *reconcile.Settings { return p.o.Settings.Settings() }

// DocPaused names the document, in the space of no project, with the time since when the route of
// that identity is paused. It is empty where the route is not paused.
func DocPaused(id string) string { return "paused:" + id }

// Pause makes a route's keys wait until Resume. It returns store.ErrNotFound where there is no such
// route.
func (p *Pauses) Pause(ctx context.Context, route string) error {
	return p.setPaused(ctx, route, p.o.Clock.Now().UTC().Format(time.RFC3339))
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

// PausedSince returns the time when a route was paused; zero: it is not paused.
func (p *Pauses) PausedSince(ctx context.Context, route string) (time.Time, error) {
	at, err := Since(ctx, p.o.Store, p.set().Routes.IdentityOf(route))
	if err != nil {
		return at, fmt.Errorf("pause of route %s: %w", route, err)
	}
	return at, nil
}

// Since returns the time when the route of an identity was paused; zero: it is not paused.
func Since(ctx context.Context, s Documents, id string) (time.Time, error) {
	doc, err := store.ReadDoc(ctx, s, "", DocPaused(id))
	if err != nil || len(doc) == 0 {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, string(doc))
}

// Paused returns the time when each paused route was paused.
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
