package requeue

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Operator knows which routes are paused, and since when.
type Operator interface {
	Paused(ctx context.Context) (map[string]time.Time, error)
}

// PauseOptions configure Pauses. All fields are required.
type PauseOptions struct {
	Operator Operator
	Settings Settings
	Logger   *slog.Logger
}

// Pauses remembers which routes are paused, as far as this process knows. It is safe for
// concurrent use.
type Pauses struct {
	o      PauseOptions
	routes sync.Map // the identities of those that are paused: their names
}

// NewPauses makes a Pauses without paused routes.
func NewPauses(o PauseOptions) *Pauses { return &Pauses{o: o} }

// Paused reports whether a route is paused, as far as this process knows.
func (p *Pauses) Paused(route string) bool { return p.holds(p.o.Settings.Routes().IdentityOf(route)) }

// holds reports whether the route of an identity is paused, as far as this process knows.
func (p *Pauses) holds(id string) bool {
	_, yes := p.routes.Load(id)
	return yes
}

// Note remembers for this process whether a route is paused.
func (p *Pauses) Note(route string, paused bool) {
	id := p.o.Settings.Routes().IdentityOf(route)
	if !paused {
		p.routes.Delete(id)
		return
	}
	if _, known := p.routes.Swap(id, route); !known {
		p.o.Logger.Warn("route is paused: its changes are taken and wait", "route", route)
	}
}

// Learn reads from the store which routes are paused.
func (p *Pauses) Learn(ctx context.Context) error {
	paused, err := p.o.Operator.Paused(ctx)
	if err != nil {
		return err
	}
	routes := p.o.Settings.Routes()
	for _, r := range routes.All() {
		_, yes := paused[r.Name]
		p.Note(r.Name, yes)
	}
	p.routes.Range(func(id, name any) bool {
		if routes.ByIdentity(id.(string)) == nil {
			p.o.Logger.Warn("a paused route is configured no more: its links go on by the routes that take them", "route", name)
			p.routes.Delete(id)
		}
		return true
	})
	return nil
}
