// Package effects carries out the effects that the core asks for. Package reconcile decides, step
// by step, and does no I/O. This package calls the services and the store, and returns their
// answers.
//
// Its entry point is [New]. A [Shell] is the core with which package engine works keys. It connects
// the decisions of package reconcile to the services. It has the process's memory beyond a claim,
// and the metrics and the log of the decisions.
//
// The files:
//
//   - shell.go takes a claim from its steps to its result.
//   - ports.go declares the services, host.go the program around the Shell.
//   - github.go, planning.go, store.go and process.go map each effect to its call.
//   - batch.go, labels.go and listed.go share requests between keys.
//   - milestones*.go write the milestones of a project.
//   - absence.go and pause.go remember failures.
//   - metrics.go counts.
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
	Epoch    Epoch // nil: for previews only
	GitHub   GitHub
	Projects Projects
	Renderer Renderer
	Settings Settings
	Host     Host          // nil: only the settings are known
	Lists    Lists         // nil: each issue is read by itself
	Labels   Labels        // nil: each issue's labels take a request of their own
	Clock    clock.Source  // nil: the runtime's
	Watcher  Watcher       // nil: none
	LeaseTTL time.Duration // of a claim, and of the lease on milestones; 0: a minute
	Session  Session       // that the lease on milestones ends with; nil: with none
	Metrics  *Metrics
	Logger   *slog.Logger
	Guard    *guard.Guard // it handles panics; nil: panics are not recorded
}

// Shell carries out the effects that the core asks for. It is safe for concurrent use.
type Shell struct {
	Options
	adoptions adoptions
	paused    pauses
	absences  absences
	numbers   sync.Map // by name: numbers that the core asks the process to remember
	lookups   sync.Map // by project: the cards that the last lookup showed, and no poll yet
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
		o.Clock = clock.Runtime{}
	}
	if o.Watcher == nil {
		o.Watcher = nobody{}
	}
	return &Shell{Options: o}
}
