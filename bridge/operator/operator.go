// Package operator carries out the requests of commands, the status page and the admin listener.
//
// Its entry point is [New]. An [Operator] works on the store, so that a command can use it where no
// service runs. The package declares the used parts of the process ([Process]) and of the two
// services ([Services]). Each kind of request has a package of its own, and an Operator combines
// them. It handles only the smallest ones itself.
//
//   - queue.go, failures.go: what waits, and what failed.
//   - accept.go: which repository or account a name stands for.
//   - services.go: how both services are opened for a question.
package operator

import (
	"context"
	"time"

	"planbridge/bridge/archive"
	"planbridge/bridge/burndown"
	"planbridge/bridge/clock"
	"planbridge/bridge/decommission"
	"planbridge/bridge/epoch"
	"planbridge/bridge/explain"
	"planbridge/bridge/guard"
	"planbridge/bridge/ledger"
	"planbridge/bridge/links"
	"planbridge/bridge/pairing"
	"planbridge/bridge/pause"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings has the present settings.
type Settings interface {
	Settings() *reconcile.Settings
}

// Process is the part of the running service that operators query or change.
type Process interface {
	// Kick makes the workers check the queue now.
	Kick()
	// NotePaused records that a route was paused or resumed.
	NotePaused(route string, paused bool)
	// Recognise asks GitHub which repository has a name now, and records the answer in the store.
	// A name that was never met stays unknown.
	Recognise(ctx context.Context, repo string) error
	// Accepted records that an operator accepted a repository, or an account (repo is "").
	Accepted(ctx context.Context, repo string) error
	// FirstRun returns when a route began to run.
	FirstRun(route string) time.Time
	// Works reports whether the process works a key.
	Works(key store.Key) bool
}

// Options configure an Operator. Store, Settings and Services are required.
type Options struct {
	Store    store.Store
	Settings Settings
	Services Services
	// Process is nil where no service runs.
	Process Process
	// Worker names the process for the keys that it works.
	Worker string
	// StoreKind names the kind of the store in backups.
	StoreKind string
	// Guard has the items that this process set aside; nil where none runs.
	Guard *guard.Guard
	// Questions are those of the store; nil: the Operator walks its ledger itself.
	Questions *ledger.Questions
	Clock     clock.Clock // nil: the runtime's
}

// Operator carries out operators' requests. It is safe for concurrent use.
type Operator struct {
	*links.Finder
	*explain.Explainer
	*ledger.Ledger
	*pairing.Pairing
	*pause.Pauses
	*decommission.Decommissioner
	*decommission.Eraser
	*archive.Archive
	o Options
}

var _ status.Operator = (*Operator)(nil)

// New makes an Operator.
func New(o Options) *Operator {
	if o.Process == nil {
		o.Process = noProcess{}
	}
	if o.Clock == nil {
		o.Clock = clock.Runtime{}
	}
	if o.Questions == nil {
		o.Questions = ledger.NewQuestions(o.Store, o.Clock)
	}
	finder, holder, services := links.New(links.Options{Store: o.Store, Settings: o.Settings}), links.Holder{Store: o.Store, Clock: o.Clock}, opener{o.Services}
	pauses := pause.New(pause.Options{Store: o.Store, Settings: o.Settings, Process: o.Process, Clock: o.Clock})
	return &Operator{
		Finder:    finder,
		Explainer: explain.New(explain.Options{Store: o.Store, Settings: o.Settings, Services: services, Pauses: pauses, FirstRuns: o.Process}),
		Ledger:    ledger.New(ledger.Options{Store: o.Store, Settings: o.Settings, Holder: holder, Queue: o.Process, Questions: o.Questions, Clock: o.Clock}),
		Pairing:   pairing.New(pairing.Options{Store: o.Store, Settings: o.Settings, Services: services, Finder: finder, Holder: holder, Queue: o.Process, Clock: o.Clock}),
		Pauses:    pauses,
		Decommissioner: decommission.New(decommission.Options{
			Store: o.Store, Settings: o.Settings, Services: services, Finder: finder, Holder: holder, Pauses: pauses, Queue: o.Process, Clock: o.Clock,
		}),
		Eraser:  decommission.NewEraser(decommission.EraserOptions{Store: o.Store, Finder: finder, Holder: holder}),
		Archive: archive.New(archive.Options{Store: o.Store, Settings: o.Settings, StoreKind: o.StoreKind, Clock: o.Clock}),
		o:       o,
	}
}

// noProcess stands for a service where none runs. The first runs of routes do not count there.
type noProcess struct{}

func (noProcess) Kick()                                   {}
func (noProcess) NotePaused(string, bool)                 {}
func (noProcess) Recognise(context.Context, string) error { return nil }
func (noProcess) Accepted(context.Context, string) error  { return nil }
func (noProcess) FirstRun(string) time.Time               { return time.Unix(0, 0) }
func (noProcess) Works(store.Key) bool                    { return false }

func (o *Operator) set() *reconcile.Settings { return o.o.Settings.Settings() }

// Ready reports why the store cannot be used, nil where it can.
func (o *Operator) Ready(ctx context.Context) error {
	if err := o.o.Store.Ping(ctx); err != nil {
		return err
	}
	return epoch.Check(ctx, o.o.Store)
}

// Rebuild makes every replica read again everything that is marked on both sides. It restores
// missing links, as after a loss of the store. The service goes on meanwhile; only creates wait
// until everything is read.
func (o *Operator) Rebuild(ctx context.Context) error { return epoch.Renew(ctx, o.o.Store) }

// Burndown returns the burndown charts of a project's sprints, active ones
// first, as the poll last read them.
func (o *Operator) Burndown(ctx context.Context, project mapping.ObjectID) ([]mapping.Burndown, error) {
	return burndown.Read(ctx, o.o.Store, project)
}

// Burndowns returns the charts of all projects, by the operator's names of them.
func (o *Operator) Burndowns(ctx context.Context) (map[string][]mapping.Burndown, error) {
	out := map[string][]mapping.Burndown{}
	for _, project := range o.Projects() {
		charts, err := o.Burndown(ctx, project)
		if err != nil {
			return nil, err
		}
		out[o.set().Routes.ProjectName(project)] = charts
	}
	return out, nil
}
