// Package explain says what the next reconcile would do to a pair, and why an item has none.
//
// Its door is [New]. An [Explainer] reads both services; it changes nothing.
package explain

import (
	"context"
	"time"

	"planbridge/bridge/identity"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings tells the settings that hold now.
type Settings interface {
	Settings() *reconcile.Settings
}

// Services opens what reads the two services. Each release ends the use of what was opened.
type Services interface {
	GitHub() (hub GitHub, release func(), err error)
	// Planning fails with [status.ErrName] where no configured project has the id.
	Planning(project mapping.ObjectID) (side Planning, release func(), err error)
	// Preview says what the next reconcile would do.
	Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error)
}

// GitHub is what is asked of GitHub.
type GitHub interface {
	Issue(ctx context.Context, repo string, number int) (mapping.Issue, error)
	// Private reports whether only members can read a repository.
	Private(ctx context.Context, repo string) (bool, error)
	// Released reports whether a person let an issue out of quarantine.
	Released(ctx context.Context, issue *mapping.Issue) (bool, error)
	// Authorship tells whether a login is the bridge's own.
	Authorship(login string) mapping.Authorship
}

// Planning is what is asked of one planning project.
type Planning interface {
	Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error)
	// BacklogEach visits the cards of the buckets.
	BacklogEach(ctx context.Context, visit func(bucket mapping.ObjectID, title string, card mapping.Card) error) error
}

// Store is what is asked of the store: the marks that the poll leaves in it, which link an item
// belongs to, and whose the name of a repository is.
type Store interface {
	identity.Documents
	Find(ctx context.Context, project mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error)
	Marks(ctx context.Context, project mapping.ObjectID, kind string) ([]store.Mark, error)
}

// Pauses tell since when a route is paused; zero: it is not.
type Pauses interface {
	PausedSince(ctx context.Context, route string) (time.Time, error)
}

// FirstRuns tell when a route began to run.
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

// Explainer says why. It is safe for concurrent use.
type Explainer struct{ o Options }

// New makes an Explainer.
func New(o Options) *Explainer { return &Explainer{o} }

func (e *Explainer) set() *reconcile.Settings { return e.o.Settings.Settings() }

// previewPatience bounds the reads of a preview: whoever asks waits for it.
const previewPatience = 15 * time.Second

// Preview reads both items of a link and says what the next reconcile would do;
// nil where there is no pair yet.
func (e *Explainer) Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error) {
	ctx, cancel := context.WithTimeout(ctx, previewPatience)
	defer cancel()
	return e.o.Services.Preview(ctx, l)
}
