// Package effects carries out what the core asks for. Package reconcile decides, one step
// after the other, and does no I/O; this package calls the two services and the store, and
// hands back what they answered.
//
// Its door is [New]. A [Shell] is the core that package engine works keys with: it joins the
// decisions of package reconcile with the world. It keeps what a process remembers beyond a
// claim, and the metrics and the log of what was decided.
//
// The files: shell.go (a claim, from its steps to its result), ports.go (what is asked of the
// services), host.go (what is asked of the program), github.go, planning.go, store.go,
// process.go (which effect is which call), batch.go, labels.go, listed.go (what keys do with
// one request), milestones*.go (the milestones of a project), absence.go and pause.go (what is
// remembered), metrics.go.
package effects

import (
	"log/slog"
	"sync"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/engine"
	"planbridge/bridge/guard"
	"planbridge/store"
)

// Options configure a Shell. Fields are required, unless they say otherwise.
type Options struct {
	Store    store.Store
	Epoch    Epoch // nil: for previews alone
	GitHub   GitHub
	Projects Projects
	Renderer Renderer
	Settings Settings
	Host     Host          // nil: nothing is known beside the settings
	Lists    Lists         // nil: each issue is read by itself
	Labels   Labels        // nil: each issue's labels take a request of their own
	Clock    Clock         // nil: the runtime's
	Watcher  Watcher       // nil: nobody looks
	LeaseTTL time.Duration // of a claim, and of the lease on milestones; 0: a minute
	Metrics  *Metrics
	Logger   *slog.Logger
	Guard    *guard.Guard // sets aside what the program panics on; nil: nothing is remembered of it
}

// Shell carries out what the core asks for. It is safe for concurrent use.
type Shell struct {
	Options
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
	if o.Host == nil {
		o.Host = noHost{}
	}
	if o.Clock == nil {
		o.Clock = clock.Clock{}
	}
	if o.Watcher == nil {
		o.Watcher = nobody{}
	}
	return &Shell{Options: o}
}
