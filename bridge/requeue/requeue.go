// Package requeue makes keys due again. They waited for a service, a pause or a repository, or
// were withheld, or another route takes them now.
package requeue

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/factlog"
	"planbridge/bridge/guard"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/repositories"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings has the present routes.
type Settings interface {
	Routes() mapping.Routes
}

// Queue learns that keys are due.
type Queue interface {
	Kick()
}

// Services are GitHub and the planning projects, by the names under which keys wait for them.
type Services interface {
	// Away reports whether this process last found a service away.
	Away(service string) bool
	// Back reports whether a service last failed at since or later and answers again, so that
	// requests may go to it. One that refuses the secret is not back.
	Back(service string, since time.Time) bool
	// Probe checks whether a service answers.
	Probe(ctx context.Context, service string) error
}

// GitHub is the part of GitHub's client that this package uses.
type GitHub interface {
	// Archived reports whether a repository is read-only.
	Archived(ctx context.Context, repo string) (bool, error)
}

// Repositories knows the repositories behind names, and who can read them.
type Repositories interface {
	Locate(ctx context.Context, name string, id int64, asOf time.Time) (string, error)
	AskPublic(ctx context.Context, repo string) bool
}

// FirstRuns reports whether routes wait for GitHub's time of their first run.
type FirstRuns interface {
	WaitForClock(routes []*mapping.Route) bool
}

// Epoch reads the store's epoch.
type Epoch interface {
	Read(ctx context.Context) (string, error)
}

// Sprints learns of projects whose milestones must be checked.
type Sprints interface {
	SprintsChanged(project mapping.ObjectID)
}

// Options configure a Requeuer. All fields are required.
type Options struct {
	Store        store.Store
	Settings     Settings
	Queue        Queue
	Services     Services
	GitHub       GitHub
	Repositories Repositories
	FirstRuns    FirstRuns
	Epoch        Epoch
	Sprints      Sprints
	Pauses       *Pauses
	// Timeout bounds how long a search asks GitHub for names of repositories without a route.
	// GitHub may be silent; the work on a link asks again.
	Timeout clock.Timeout
	Clock   clock.Clock
	Logger  *slog.Logger
	Guard   *guard.Guard
}

// Requeuer makes keys due again. It is safe for concurrent use.
type Requeuer struct {
	o       Options
	renames renames
	looked  atomic.Pointer[string] // the routes for which this process searched the links
	// mayBeBack has the planning projects that were away at the last tick, and those that
	// answered again before a key began to wait for them.
	mayBeBack sync.Map
}

// New makes a Requeuer.
func New(o Options) *Requeuer {
	return &Requeuer{o: o, renames: renames{pending: map[string]string{}, done: map[string]string{}, told: map[string]string{}}}
}

// WakeWaiting wakes the keys of adopted projects, listed repositories and ended pauses, and probes
// GitHub where it is away. It returns an error while GitHub is still away.
func (r *Requeuer) WakeWaiting(ctx context.Context) error {
	github := r.o.FirstRuns.WaitForClock(r.o.Settings.Routes().All())
	waiting := map[string]bool{}
	for _, project := range r.o.Settings.Routes().Projects() {
		d, err := r.o.Store.Depth(ctx, project)
		if err != nil {
			return err
		}
		for service := range d.Waiting {
			waiting[service] = true
		}
		github = github || d.Waiting[reconcile.ServiceGitHub] > 0
		for service := range mapping.Sorted(d.Waiting) {
			if r.ready(ctx, project, service) {
				r.Wake(ctx, project, service)
			}
		}
	}
	// Another replica may have woken the waiting keys.
	factlog.EndElsewhere(ctx, r.o.Logger, factlog.KeysWait, "no key waits for the service any more", waiting)
	return r.askGitHub(ctx, github)
}

// askGitHub probes GitHub where this process last found it away. Otherwise a replica that does not
// list would report an outage that is over. It also probes GitHub while keys or first runs wait.
func (r *Requeuer) askGitHub(ctx context.Context, waits bool) error {
	if !waits && !r.o.Services.Away(reconcile.ServiceGitHub) {
		return nil
	}
	if err := r.o.Services.Probe(ctx, reconcile.ServiceGitHub); err != nil {
		return err
	}
	r.answers(reconcile.ServiceGitHub)
	r.WakeGitHub(ctx)
	return nil
}

// ProbeEvery is the time between two probes of a planning project that is away.
const ProbeEvery = time.Second

// WatchPlanning probes at each tick each planning project that this process last found away,
// until ctx ends. It wakes what waits for a project that another request found back. A project
// that does not answer delays no other project's probe.
func (r *Requeuer) WatchPlanning(ctx context.Context, tick <-chan time.Time) {
	var asked sync.Map // by service, while the question is under way
	var asking sync.WaitGroup
	defer asking.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		for _, project := range r.o.Settings.Routes().Projects() {
			service := reconcile.ServicePlanning(project)
			if !r.o.Services.Away(service) {
				if _, may := r.mayBeBack.LoadAndDelete(service); may && r.o.Services.Back(service, time.Time{}) {
					r.Wake(ctx, project, service)
				}
				continue
			}
			r.mayBeBack.Store(service, true)
			if _, under := asked.LoadOrStore(service, true); !under {
				r.o.Guard.Spawn(&asking, "probe of "+service, func() {
					defer asked.Delete(service)
					r.askPlanning(ctx, project, service)
				})
			}
		}
	}
}

// askPlanning probes a project once, and wakes the keys that wait for it where it answers.
func (r *Requeuer) askPlanning(ctx context.Context, project mapping.ObjectID, service string) {
	if err := r.o.Services.Probe(ctx, service); err != nil {
		r.o.Logger.Debug("what keys wait for is still away", "service", service, "err", err)
		return
	}
	r.answers(service)
	r.Wake(ctx, project, service)
}

// answers ends the facts of a service that takes requests again.
func (r *Requeuer) answers(service string) {
	for _, fact := range []string{factlog.Away, factlog.Refused} {
		r.o.Logger.Info("the service answers again", "service", service, factlog.Over, fact)
	}
}

// recently is how long ago planning may have failed for a key that begins to wait. A project that
// answers and did not fail, for example with 404 to everything, is waited for until a poll succeeds.
const recently = 5 * time.Second

// WakeIfReady wakes keys that wait for what came in the same moment. Those that wait for planning,
// which is back already, are woken at the next tick of WatchPlanning.
func (r *Requeuer) WakeIfReady(ctx context.Context, project mapping.ObjectID, service string) {
	if r.ready(ctx, project, service) {
		r.Wake(ctx, project, service)
	}
	if service == reconcile.ServicePlanning(project) && r.o.Services.Back(service, r.o.Clock.Now().Add(-recently)) {
		r.mayBeBack.Store(service, true)
	}
}

// ready reports whether the store or this process knows that keys wait no longer: for somebody to
// resume a route, for an adoption, or for a listing. It does not know of services.
func (r *Requeuer) ready(ctx context.Context, project mapping.ObjectID, service string) bool {
	if id, is := strings.CutPrefix(service, reconcile.ServicePaused("")); is {
		return !r.o.Pauses.holds(id)
	}
	repo, isListing := strings.CutPrefix(service, reconcile.ServiceListing(""))
	if !isListing && service != reconcile.ServiceAdoption {
		return false
	}
	epoch, err := r.o.Epoch.Read(ctx)
	if err != nil {
		return false
	}
	if isListing {
		return r.listed(ctx, project, repo, epoch)
	}
	doc, err := r.o.Store.Doc(ctx, project, store.DocAdopted)
	return err == nil && string(doc) == epoch
}

// listed reports whether a repository was listed for a project. It also does where no route of the
// project makes new issues in a repository of this name any more: cards get them elsewhere then.
func (r *Requeuer) listed(ctx context.Context, project mapping.ObjectID, repo, epoch string) bool {
	was, err := store.ReadRepositoryAdopted(ctx, r.o.Store, repo)
	if err != nil || was.For(epoch, project) {
		return err == nil
	}
	asking, stop := r.o.Timeout.Bound(ctx)
	defer stop()
	return !slices.ContainsFunc(r.o.Settings.Routes().In(project), func(route *mapping.Route) bool {
		if route.NewCardsIn == "" {
			return false
		}
		now, err := r.o.Repositories.Locate(asking, route.NewCardsIn, 0, time.Time{})
		return err != nil || strings.EqualFold(now, repo)
	})
}

// WakeGitHub wakes the keys that wait for GitHub.
func (r *Requeuer) WakeGitHub(ctx context.Context) { r.wakeAll(ctx, reconcile.ServiceGitHub) }

// wakeAll wakes the keys of all projects that wait for a service.
func (r *Requeuer) wakeAll(ctx context.Context, service string) {
	for _, project := range r.o.Settings.Routes().Projects() {
		r.Wake(ctx, project, service)
	}
}

// Wake wakes the keys of a project that wait for a service.
func (r *Requeuer) Wake(ctx context.Context, project mapping.ObjectID, service string) {
	n, err := r.o.Store.Wake(ctx, project, service, store.WakePerSecond)
	if err != nil {
		r.o.Logger.Warn("waking what waited", "service", service, "err", err)
		return
	}
	if n > 0 {
		r.o.Logger.Info("a service is back", "service", service, "keys", n, factlog.Over, factlog.KeysWait)
		r.o.Queue.Kick()
	}
}

// WakeListing wakes the keys that wait until the issues of a repository were listed.
func (r *Requeuer) WakeListing(ctx context.Context, repo string) {
	r.wakeAll(ctx, reconcile.ServiceListing(repo))
}

// WakeRepository wakes the keys that wait for a repository that is no longer archived.
func (r *Requeuer) WakeRepository(ctx context.Context, repo string) {
	r.wakeAll(ctx, reconcile.ServiceRepository(repo))
}

// WakeRepositories checks repositories that keys wait for: the event that one is writable again
// may have been lost.
func (r *Requeuer) WakeRepositories(ctx context.Context) {
	asked := map[string]bool{}
	for _, project := range r.o.Settings.Routes().Projects() {
		d, err := r.o.Store.Depth(ctx, project)
		if err != nil {
			return
		}
		for service := range mapping.Sorted(d.Waiting) {
			repo, ok := strings.CutPrefix(service, reconcile.ServiceRepository(""))
			if !ok || asked[repo] {
				continue
			}
			asked[repo] = true
			if _, err := r.o.Repositories.Locate(ctx, repo, 0, r.o.Clock.Now().Add(-repositories.DoubtedFor)); err != nil {
				continue
			}
			if archived, err := r.o.GitHub.Archived(ctx, repo); err == nil && !archived {
				r.WakeRepository(ctx, repo)
			}
		}
	}
}
