// Package decommission removes planbridge's marks where a pair, a route or a text ends.
//
// A [Decommissioner] takes pairs apart (clean.go), and moves the issues of a route to cards
// elsewhere (move.go). An [Eraser] removes texts (erase.go).
package decommission

import (
	"context"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/links"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings has the present settings.
type Settings interface {
	Settings() *reconcile.Settings
}

// Services are the used parts of the two services.
type Services interface {
	// Ready waits until answers of the services may be stored.
	Ready(ctx context.Context) error
	// BucketIDs returns the ids of a project's bucket, given by title or id; none where there is
	// none.
	BucketIDs(ctx context.Context, project mapping.ObjectID, bucket string) ([]mapping.ObjectID, error)
	// PlanCleaning lists the marks that would be removed from a pair that is taken apart.
	PlanCleaning(ctx context.Context, l *mapping.Link) ([]mapping.CleanStep, error)
	// PlanMove returns the plan for a pair whose issue moves along the routes.
	PlanMove(ctx context.Context, l *mapping.Link, routes mapping.Routes) (mapping.MovePlan, error)
}

// Pauses returns the time when a route was paused; zero: it is not paused.
type Pauses interface {
	PausedSince(ctx context.Context, route string) (time.Time, error)
}

// Queue is the queue of the service that runs.
type Queue interface {
	// Kick makes the workers check the queue now.
	Kick()
}

// Options configure a Decommissioner. All fields are required.
type Options struct {
	Store    store.Store
	Settings Settings
	Services Services
	Finder   *links.Finder
	Holder   links.Holder
	Pauses   Pauses
	Queue    Queue
	Clock    clock.Clock
}

// Decommissioner takes apart or moves the pairs that operators name. It is safe for concurrent use.
type Decommissioner struct{ o Options }

// New makes a Decommissioner.
func New(o Options) *Decommissioner { return &Decommissioner{o} }

func (d *Decommissioner) set() *reconcile.Settings { return d.o.Settings.Settings() }
