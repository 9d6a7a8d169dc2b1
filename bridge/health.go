package bridge

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"planbridge/bridge/github"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// asked tells the monitor how a service answered.
func (a *App) asked(service string) func(error) {
	return func(err error) { a.monitor.Asked(service, err) }
}

// delivered takes in that a delivery was believed, and who sent it.
func (a *App) delivered(ctx context.Context, login string, id int64) {
	a.monitor.Heard(reconcile.ServiceGitHub, status.SourceDelivery)
	a.github.people.Meet(ctx, login, id)
}

// Acquire also lets the monitor know which leases this process has.
func (k *kicking) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error) {
	return k.app.monitor.Acquire(ctx, k.Store, name, owner, ttl)
}

// healthView is what the status page is told of this process.
type healthView struct{ app *App }

var _ status.Monitor = healthView{}

// Recent implements [status.Monitor].
func (o healthView) Recent(_ context.Context, limit int) ([]status.Activity, error) {
	return o.app.monitor.Recent(limit), nil
}

// Health implements [status.Monitor].
func (o healthView) Health(ctx context.Context) (status.Health, error) {
	c := o.app.set.Load().config
	hub, err := o.github(ctx)
	out := status.Health{Services: []status.ServiceHealth{hub}}
	for _, name := range slices.Sorted(maps.Keys(c.Planning.Projects)) {
		id := mapping.ObjectID(c.Planning.Projects[name].ID)
		service := reconcile.ServicePlanning(id)
		s := o.service(service, o.app.down(service))
		s.Name, s.Project = name, true
		s.Sources = []status.Source{o.source(service, status.SourcePoll, c.Planning.PollInterval, "poll:"+string(id))}
		out.Services = append(out.Services, s)
	}
	budgets, unread := o.budgets(ctx)
	out.Budgets = budgets
	return out, cmp.Or(err, unread)
}

// github is how GitHub was last met, by this process, and what it asked any replica for.
func (o healthView) github(ctx context.Context) (status.ServiceHealth, error) {
	c := o.app.set.Load().config
	s := o.service(reconcile.ServiceGitHub, o.app.github.Down())
	s.Name = reconcile.ServiceGitHub
	s.Sources = []status.Source{
		o.source(reconcile.ServiceGitHub, status.SourceDelivery, 0, ""),
		o.source(reconcile.ServiceGitHub, status.SourceCatchUp, c.GitHub.CatchUpInterval, "catchup"),
	}
	left, err := holds{o.app.store}.left(ctx)
	if pause := max(left[github.ResourceAll], left[github.ResourceCore]); pause > 0 && s.State != status.ServiceDown {
		s.State, s.Until = status.ServiceLimited, o.app.o.Now().UTC().Add(pause)
	}
	return s, err
}

// service is how a service was last met. One whose breaker is open is down.
func (o healthView) service(service string, down bool) status.ServiceHealth {
	met := o.app.monitor.Service(service)
	s := status.ServiceHealth{State: status.ServiceUp, Answered: met.Answered, Error: met.Error, Failed: met.Failed}
	switch {
	case down:
		s.State = status.ServiceDown
	case met.Shut():
		s.State = status.ServiceRefused
	case met.Answered.IsZero():
		s.State = status.ServiceUnknown
	}
	return s
}

// source is when changes were last heard of in one way. The replica that has the lease
// asks for them.
func (o healthView) source(service, what string, every time.Duration, lease string) status.Source {
	return status.Source{
		What: what, At: o.app.monitor.Service(service).Heard[what], Every: every.Seconds(), Elsewhere: o.app.monitor.Elsewhere(lease),
	}
}

// budgets are what all replicas together may still write to GitHub.
func (o healthView) budgets(ctx context.Context) ([]status.Budget, error) {
	var out []status.Budget
	for _, class := range []github.WriteClass{github.ClassContent, github.ClassEdit} {
		b := o.app.budgetOf(class)
		minute, hour, err := o.app.store.Taken(ctx, b.Name)
		if err != nil {
			return out, err
		}
		for _, window := range []struct {
			name     string
			of, took int
		}{{"minute", b.PerMinute, minute}, {"hour", b.PerHour, hour}} {
			if window.of > 0 {
				out = append(out, status.Budget{Name: budgetNames[class], Window: window.name, Left: max(0, window.of-window.took), Of: window.of})
			}
		}
	}
	return out, nil
}

// budgetNames name the classes of writes for people.
var budgetNames = map[github.WriteClass]string{github.ClassContent: "content", github.ClassEdit: "edits"}

// budgetOf is the budget of a class of writes to GitHub.
func (a *App) budgetOf(class github.WriteClass) store.Budget {
	c := a.set.Load().config.GitHub
	b := store.Budget{
		Name: "github", PerMinute: c.WritesPerMinute, PerHour: c.WritesPerHour, Burst: writeBurst,
		Holds: []string{holdPrefix + github.ResourceAll, holdPrefix + github.ResourceCore},
	}
	if class == github.ClassEdit {
		b.Name, b.PerMinute, b.PerHour = "github:edits", c.EditsPerMinute, 0
	}
	return b
}
