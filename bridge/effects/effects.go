// Package effects carries out what the core asks for. Package reconcile decides, one step
// after the other, and does no I/O; this package calls the two services and the store, and
// hands back what they answered.
//
// Its door is [New]. A [Shell] is the core that package engine works keys with: it joins the
// decisions of package reconcile with the world. It keeps what a process remembers beyond a
// claim, and the metrics and the log of what was decided.
//
// The files: shell.go (a claim, from its steps to its result), ports.go (what is asked of the
// services), github.go, planning.go, store.go, process.go (which effect is which call),
// batch.go, listed.go (what keys do with one request), milestones*.go (the milestones of a
// project), absence.go and pause.go (what is remembered), metrics.go.
package effects

import (
	"context"
	"iter"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"planbridge/bridge/engine"
	"planbridge/bridge/guard"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// Options configure a Shell. Fields are required, unless they say otherwise.
type Options struct {
	Store store.Store
	// Epoch is the store's epoch at this moment.
	Epoch  func(ctx context.Context) (string, error)
	GitHub GitHub
	// Planning returns the project's side, or nil where it is not configured.
	Planning func(project mapping.ObjectID) Planning
	// SameRendering reports whether two Markdown texts mean the same.
	SameRendering func(a, b string) bool
	Settings      func() *reconcile.Settings
	Projects      func() []mapping.ObjectID // that are configured
	// FirstRun tells when a route began to run (see [mapping.Entrance]); nil: that is
	// not known.
	FirstRun func(route string) time.Time
	LeaseTTL time.Duration // of a claim, and of the lease on milestones; 0: a minute
	Metrics  *Metrics
	Logger   *slog.Logger
	Guard    *guard.Guard // sets aside what the program panics on; nil: nothing is remembered of it
	// Paused reports whether an operator paused a route; nil: none is.
	Paused func(route string) bool
	// Down reports whether a service (see ServiceGitHub) is known to be away.
	Down func(service string) bool
	// OnCard is told of every card that planning showed or answered with. It must
	// not block.
	OnCard func(project, card mapping.ObjectID)
	// SeenCards returns the cards of a project that polls have seen; nil: none is known.
	SeenCards func(ctx context.Context, project mapping.ObjectID) ([]mapping.ObjectID, error)
	// ListIssues hands the issues of a repository that were updated at a moment or later to
	// page, the oldest update first, until that has enough. nil: each is read by itself.
	ListIssues func(ctx context.Context, repo string, since time.Time, page func([]mapping.Issue) (enough bool)) error
	// Now is the clock; nil: the runtime's.
	Now func() time.Time
	// Random draws a number in [0, n) and is safe for concurrent use; nil: the runtime's.
	Random func(n int64) int64
	// Watch is given what a claim begins with and the steps of its work, and returns those that
	// are carried out: the same ones, which it may look at. nil: nobody looks.
	Watch func(reconcile.State, iter.Seq[*reconcile.Step]) iter.Seq[*reconcile.Step]
	// Renamed is told that a repository has another name.
	Renamed func(ctx context.Context, from, to string) error
}

// Shell carries out what the core asks for. It is safe for concurrent use.
type Shell struct {
	Options
	process   reconcile.Process
	adoptions adoptions
	paused    pauses
	absences  absences
	numbers   sync.Map // by name: what the core has the process remember
}

var _ engine.Core = (*Shell)(nil)

// New returns a Shell.
func New(o Options) *Shell {
	if o.LeaseTTL == 0 {
		o.LeaseTTL = time.Minute
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
	if o.FirstRun == nil {
		o.FirstRun = func(string) time.Time { return time.Time{} }
	}
	if o.OnCard == nil {
		o.OnCard = func(_, _ mapping.ObjectID) {}
	}
	if o.SeenCards == nil {
		o.SeenCards = func(context.Context, mapping.ObjectID) ([]mapping.ObjectID, error) { return nil, nil }
	}
	if o.Renamed == nil {
		o.Renamed = func(context.Context, string, string) error { return nil }
	}
	if o.Paused == nil {
		o.Paused = func(string) bool { return false }
	}
	if o.Down == nil {
		o.Down = func(string) bool { return false }
	}
	if o.Watch == nil {
		o.Watch = func(_ reconcile.State, steps iter.Seq[*reconcile.Step]) iter.Seq[*reconcile.Step] { return steps }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Int64N
	}
	s := &Shell{Options: o}
	s.process = reconcile.Process{
		Projects: o.Projects, Authorship: o.GitHub.Authorship, Stranger: o.GitHub.Stranger, SameRendering: o.SameRendering,
		FirstRun: o.FirstRun, Paused: o.Paused, Down: o.Down, LeaseTTL: o.LeaseTTL,
	}
	return s
}
