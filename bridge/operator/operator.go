// Package operator is what commands, the status page and the admin listener can ask of
// planbridge and have it do.
//
// Its door is [New]. An [Operator] works on the store, so that a command can use it where
// no service runs. What it needs of the process around it ([Process]) and of the two
// services ([Services]) is declared here.
//
//   - links.go, outside.go, outside_card.go, preview.go: what is known of a pair, and why
//     there is none.
//   - queue.go, failures.go, conflicts.go, questions.go, burndown.go: what waits, failed, was
//     decided or asked.
//   - export.go: rows of all that is known.
//   - clean.go, move.go, unlink.go, link.go, erase.go, accept.go, pause.go, backup.go: what is changed.
package operator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"planbridge/bridge/epoch"
	"planbridge/bridge/guard"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings tells the settings that hold now.
type Settings interface {
	Settings() *reconcile.Settings
}

// Process is the service that runs, as far as operators change or ask what it does.
type Process interface {
	// Kick has the queue looked at now.
	Kick()
	// NotePaused is told that a route was paused or resumed.
	NotePaused(route string, paused bool)
	// Accepted is told that an operator accepted a repository, or an account (repo is "").
	Accepted(ctx context.Context, repo string) error
	// FirstRun tells when a route began to run.
	FirstRun(route string) time.Time
	// Works reports whether the process works a key.
	Works(key store.Key) bool
}

// Services opens what reads the two services. Each release ends the use of what was opened.
type Services interface {
	// Ready waits until the services may be asked for what is to be kept.
	Ready(ctx context.Context) error
	GitHub() (hub GitHub, release func(), err error)
	// Planning is [status.ErrName] where no configured project has the id.
	Planning(project mapping.ObjectID) (side Planning, release func(), err error)
	Previewer() (p Previewer, release func(), err error)
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
	// BucketIDs returns the ids of a bucket, given by title or id; none where there is none.
	BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error)
	// BacklogEach visits the cards of the buckets.
	BacklogEach(ctx context.Context, visit func(bucket mapping.ObjectID, title string, card mapping.Card) error) error
}

// Previewer says what the next reconcile would do.
type Previewer interface {
	Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error)
	// PlanCleaning says what would be taken off a pair that is taken apart.
	PlanCleaning(ctx context.Context, l *mapping.Link) ([]mapping.CleanStep, error)
	// PlanMove says what becomes of a pair whose issue moves to where routes lead.
	PlanMove(ctx context.Context, l *mapping.Link, routes mapping.Routes) (mapping.MovePlan, error)
}

// Options configure an Operator. Store, Settings and Services are required.
type Options struct {
	Store    store.Store
	Settings Settings
	Services Services
	// Process is nil where no service runs.
	Process Process
	// Worker names the process in what it works.
	Worker string
	// StoreKind names the kind of the store in backups.
	StoreKind string
	// Guard knows what this process set aside; nil where none runs.
	Guard *guard.Guard
	// Questions are those of the store; nil: the Operator walks its ledger itself.
	Questions *Questions
	// Now is the clock; nil: the runtime's.
	Now func() time.Time
}

// Operator carries out what operators ask. It is safe for concurrent use.
type Operator struct {
	store     store.Store
	settings  Settings
	services  Services
	process   Process
	worker    string
	storeKind string
	guard     *guard.Guard
	questions *Questions
	now       func() time.Time
}

var _ status.Operator = (*Operator)(nil)

// New makes an Operator.
func New(o Options) *Operator {
	if o.Process == nil {
		o.Process = noProcess{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Questions == nil {
		o.Questions = NewQuestions(o.Store, o.Now)
	}
	return &Operator{
		store: o.Store, settings: o.Settings, services: o.Services, process: o.Process,
		worker: o.Worker, storeKind: o.StoreKind, guard: o.Guard, questions: o.Questions, now: o.Now,
	}
}

// noProcess stands for a service where none runs. When routes began to run is left out of
// account there.
type noProcess struct{}

func (noProcess) Kick()                                  {}
func (noProcess) NotePaused(string, bool)                {}
func (noProcess) Accepted(context.Context, string) error { return nil }
func (noProcess) FirstRun(string) time.Time              { return time.Unix(0, 0) }
func (noProcess) Works(store.Key) bool                   { return false }

func (o *Operator) set() *reconcile.Settings { return o.settings.Settings() }

func (o *Operator) projects() []mapping.ObjectID { return o.set().Routes.Projects() }

// Ready reports why the store cannot be used, nil where it can.
func (o *Operator) Ready(ctx context.Context) error { return o.store.Ping(ctx) }

// Routes lists the configured routes, in the order in which they take issues.
func (o *Operator) Routes() []*mapping.Route { return o.set().Routes.All() }

// knowsRoute reports whether a route is configured; "" stands for all.
func (o *Operator) knowsRoute(name string) bool {
	return name == "" || slices.ContainsFunc(o.Routes(), func(r *mapping.Route) bool { return r.Name == name })
}

// Counts counts the links by route and state, but those of a store that an earlier
// program wrote and that are not counted yet.
func (o *Operator) Counts(ctx context.Context) (map[string]map[mapping.LinkState]int, error) {
	all := store.Tally{Links: map[string]map[mapping.LinkState]int{}, Failures: map[string]int{}}
	for _, project := range o.projects() {
		t, err := o.store.Tally(ctx, project)
		if err != nil {
			return nil, fmt.Errorf("count links: %w", err)
		}
		all.Add(t)
	}
	return all.Links, nil
}

// Rebuild makes every replica look again at everything that is marked on both sides, and
// restore the links that are missing, as after a loss of the store. The service goes on
// meanwhile; only creating waits until all is seen.
func (o *Operator) Rebuild(ctx context.Context) error { return epoch.Renew(ctx, o.store) }
