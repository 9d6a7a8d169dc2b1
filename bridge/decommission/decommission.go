// Package decommission removes planbridge's marks, where a pair, a route or a text is to go.
//
// A [Decommissioner] takes pairs apart (clean.go), and moves the issues of a route to cards
// elsewhere (move.go). An [Eraser] removes texts (erase.go).
package decommission

import (
	"context"
	"time"

	"planbridge/bridge/links"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings tells the settings that hold now.
type Settings interface {
	Settings() *reconcile.Settings
}

// Services are the two services, as far as they are asked here.
type Services interface {
	// Ready waits until the services may be asked for what is to be kept.
	Ready(ctx context.Context) error
	// BucketIDs returns the ids of a project's bucket, given by title or id; none where there is
	// none.
	BucketIDs(ctx context.Context, project mapping.ObjectID, bucket string) ([]mapping.ObjectID, error)
	// PlanCleaning says what would be taken off a pair that is taken apart.
	PlanCleaning(ctx context.Context, l *mapping.Link) ([]mapping.CleanStep, error)
	// PlanMove says what becomes of a pair whose issue moves to where routes lead.
	PlanMove(ctx context.Context, l *mapping.Link, routes mapping.Routes) (mapping.MovePlan, error)
}

// Pauses tell since when a route is paused; zero: it is not.
type Pauses interface {
	PausedSince(ctx context.Context, route string) (time.Time, error)
}

// Queue is the queue of the service that runs.
type Queue interface {
	// Kick has the queue looked at now.
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
	Now      func() time.Time
}

// Decommissioner takes apart, and moves, the pairs that operators name. It is safe for
// concurrent use.
type Decommissioner struct{ o Options }

// New makes a Decommissioner.
func New(o Options) *Decommissioner { return &Decommissioner{o} }

func (d *Decommissioner) set() *reconcile.Settings { return d.o.Settings.Settings() }
