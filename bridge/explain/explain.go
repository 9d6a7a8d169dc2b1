// Package explain shows the plan of the next reconcile for a pair, and why an item has no pair.
//
// Its entry point is [New]. An [Explainer] reads both services and changes nothing.
package explain

import (
	"context"
	"time"

	"planbridge/bridge/identity"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings has the present settings.
type Settings interface {
	Settings() *reconcile.Settings
}

// Services opens readers of the two services. Each release ends the use of a reader.
type Services interface {
	GitHub() (hub GitHub, release func(), err error)
	// Planning fails with [status.ErrName] where no configured project has the id.
	Planning(project mapping.ObjectID) (side Planning, release func(), err error)
	// Preview returns the plan of the next reconcile.
	Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error)
}

// GitHub is the used part of the GitHub client.
type GitHub interface {
	Issue(ctx context.Context, repo string, number int) (mapping.Issue, error)
	// Private reports whether only members can read a repository.
	Private(ctx context.Context, repo string) (bool, error)
	// Released reports whether a person let an issue out of quarantine.
	Released(ctx context.Context, issue *mapping.Issue) (bool, error)
	// Authorship reports whether a login is the bridge's own.
	Authorship(login string) mapping.Authorship
}

// Planning is the used part of one planning project.
type Planning interface {
	Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error)
	// BacklogEach visits the cards of the buckets.
	BacklogEach(ctx context.Context, visit func(bucket mapping.ObjectID, title string, card mapping.Card) error) error
}

// Store is the used part of the store. It has the marks of polls, the link that an item belongs to,
// and the repository behind a name.
type Store interface {
	identity.Documents
	Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error)
	Marks(ctx context.Context, project mapping.ObjectID, kind string) ([]store.Mark, error)
}

// Pauses returns the time when a route was paused; zero: it is not paused.
type Pauses interface {
	PausedSince(ctx context.Context, route string) (time.Time, error)
}

// FirstRuns returns the time when a route began to run.
type FirstRuns interface {
	FirstRun(route string) time.Time
}

// Options configure an Explainer. All fields are required.
type Options struct {
	Store     Store
	Settings  Settings
	Services  Services
	Pauses    Pauses
	FirstRuns FirstRuns
}

// Explainer explains items. It is safe for concurrent use.
type Explainer struct{ o Options }

// New makes an Explainer.
func New(o Options) *Explainer { return &Explainer{o} }

func (e *Explainer) set() *reconcile.Settings { return e.o.Settings.Settings() }

// previewPatience bounds the reads of a preview, as a person waits for it.
const previewPatience = 15 * time.Second

// Preview reads both items of a link and returns the plan of the next reconcile; nil where there is
// no pair yet.
func (e *Explainer) Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error) {
	ctx, cancel := context.WithTimeout(ctx, previewPatience)
	defer cancel()
	return e.o.Services.Preview(ctx, l)
}
