package effects

import (
	"context"
	"iter"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// Epoch reads the store's epoch at this moment.
type Epoch interface {
	Read(ctx context.Context) (string, error)
}

// Projects find the sides of the planning projects.
type Projects interface {
	// Planning returns a project's side, or nil where it is not configured.
	Planning(project mapping.ObjectID) Planning
}

// Renderer knows how planning shows texts.
type Renderer interface {
	// SameRendering reports whether two Markdown texts mean the same.
	SameRendering(a, b string) bool
}

// Settings are asked at each claim, so that a reload takes effect at once.
type Settings interface {
	Settings() *reconcile.Settings
}

// Host is the program around a Shell. Its methods must not block, but for IssueMoved.
type Host interface {
	// FirstRun tells when a route began to run (see [mapping.Entrance]); zero: that is not known.
	FirstRun(route string) time.Time
	// Paused reports whether an operator paused a route.
	Paused(route string) bool
	// Down reports whether a service (see [reconcile.ServiceGitHub]) is known to be away.
	Down(service string) bool
	// CardExists is told of every card that planning showed or answered with.
	CardExists(project, card mapping.ObjectID)
	// IssueMoved is told that an issue answers from another repository, which has that name now.
	IssueMoved(ctx context.Context, from, to string) error
}

// Lists read many issues with one request.
type Lists interface {
	// ListSince hands the issues of a repository that were updated at a moment or later to
	// page, the oldest update first, until that has enough.
	ListSince(ctx context.Context, repo string, since time.Time, page func([]mapping.Issue) (enough bool)) error
}

// Clock tells the time, and draws what spreads the keys, in [0, n). It is safe for concurrent use.
type Clock interface {
	Now() time.Time
	Int64N(n int64) int64
}

// Watcher looks at the work on claims.
type Watcher interface {
	// Watch is given what a claim begins with and the steps of its work, and returns those that
	// are carried out: the same ones, which it may look at.
	Watch(begin reconcile.State, steps iter.Seq[*reconcile.Step]) iter.Seq[*reconcile.Step]
}

// noHost is the program around a Shell that answers previews.
type noHost struct{}

func (noHost) FirstRun(string) time.Time { return time.Time{} }

func (noHost) Paused(string) bool { return false }

func (noHost) Down(string) bool { return false }

func (noHost) CardExists(_, _ mapping.ObjectID) {}

func (noHost) IssueMoved(context.Context, string, string) error { return nil }

// nobody looks at the work.
type nobody struct{}

func (nobody) Watch(_ reconcile.State, steps iter.Seq[*reconcile.Step]) iter.Seq[*reconcile.Step] {
	return steps
}

// process is what the core knows of the program.
type process struct {
	Renderer
	Host
	s *Shell
}

var _ reconcile.Process = process{}

func (p process) Authorship(login string) mapping.Authorship { return p.s.GitHub.Authorship(login) }

func (p process) Stranger(login string) bool { return p.s.GitHub.Stranger(login) }

func (p process) LeaseTTL() time.Duration { return p.s.LeaseTTL }
