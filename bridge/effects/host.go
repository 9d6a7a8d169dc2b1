package effects

import (
	"context"
	"iter"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Epoch reads the store's present epoch.
type Epoch interface {
	Read(ctx context.Context) (string, error)
}

// Projects finds the clients of the planning projects.
type Projects interface {
	// Planning returns the client of a project, or nil where the project is not configured.
	Planning(project mapping.ObjectID) Planning
}

// Renderer compares how planning shows texts.
type Renderer interface {
	// SameRendering reports whether two Markdown texts render alike.
	SameRendering(a, b string) bool
}

// Settings are read at each claim, so that a reload takes effect at once.
type Settings interface {
	Settings() *reconcile.Settings
}

// Session is that of the process.
type Session interface {
	// Current names it; an error says why the process has none now.
	Current() (store.Session, error)
	// Bound returns a context that ends with a session.
	Bound(ctx context.Context, s store.Session) (context.Context, context.CancelFunc)
}

// Host is the program around a Shell. Only IssueMoved may block.
type Host interface {
	// FirstRun returns when a route began to run (see [mapping.FirstRuns]); zero: unknown.
	FirstRun(route string) time.Time
	// Paused reports whether an operator paused a route.
	Paused(route string) bool
	// Down reports whether a service (see [reconcile.ServiceGitHub]) is known to be away.
	Down(service string) bool
	// CardExists reports each card that planning showed or answered with.
	CardExists(project, card mapping.ObjectID)
	// IssueMoved reports that an issue answers from another repository, which has the name to
	// now.
	IssueMoved(ctx context.Context, from, to string) error
}

// Lists reads many issues with one request.
type Lists interface {
	// ListSince passes the issues of a repository updated at or after since to page, the oldest
	// update first. It ends when page has enough.
	ListSince(ctx context.Context, repo string, since time.Time, page func([]mapping.Issue) (enough bool)) error
}

// Watcher observes the work on claims.
type Watcher interface {
	// Watch gets the first state of a claim and the steps of its work. It returns the same steps,
	// which it may observe.
	Watch(begin reconcile.State, steps iter.Seq[*reconcile.Step]) iter.Seq[*reconcile.Step]
}

// noHost is the program around a Shell that only previews.
type noHost struct{}

func (noHost) FirstRun(string) time.Time { return time.Time{} }

func (noHost) Paused(string) bool { return false }

func (noHost) Down(string) bool { return false }

func (noHost) CardExists(_, _ mapping.ObjectID) {}

func (noHost) IssueMoved(context.Context, string, string) error { return nil }

// nobody is a Watcher that observes nothing.
type nobody struct{}

func (nobody) Watch(_ reconcile.State, steps iter.Seq[*reconcile.Step]) iter.Seq[*reconcile.Step] {
	return steps
}

// process is the core's view of the program.
type process struct {
	Renderer
	Host
	s *Shell
}

var _ reconcile.Process = process{}

func (p process) Authorship(login string) mapping.Authorship { return p.s.GitHub.Authorship(login) }

func (p process) Stranger(login string) bool { return p.s.GitHub.Stranger(login) }

func (p process) LeaseTTL() time.Duration { return p.s.LeaseTTL }
