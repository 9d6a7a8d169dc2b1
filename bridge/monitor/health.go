package monitor

import (
	"cmp"
	"context"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// Project is one planning project.
type Project struct {
	Name string // in the configuration
	ID   mapping.ObjectID
}

// Services has the facts about the services that a Monitor does not remember.
type Services interface {
	// Projects lists the planning projects by their names.
	Projects() []Project
	// PollInterval and CatchUpInterval are how often both services are asked for changes.
	PollInterval() time.Duration
	CatchUpInterval() time.Duration
	// Down reports whether the breaker of a service is open.
	Down(service string) bool
	// Held is how long GitHub's present limit still lasts.
	Held(ctx context.Context) (time.Duration, error)
	// Budgets are the writes to GitHub that all replicas together may still make.
	Budgets(ctx context.Context) ([]status.Budget, error)
	// Drift counts the links that differed when they were last verified, by route.
	Drift() map[string]int
}

// View is the status page's view of this process. All fields are required.
type View struct {
	Monitor  *Monitor
	Services Services
	Clock    clock.Clock
}

var _ status.Monitor = View{}

// Recent implements [status.Monitor].
func (v View) Recent(_ context.Context, limit int) ([]status.Activity, error) {
	return v.Monitor.Recent(limit), nil
}

// Health implements [status.Monitor].
func (v View) Health(ctx context.Context) (status.Health, error) {
	hub, err := v.github(ctx)
	out := status.Health{Services: []status.ServiceHealth{hub}, Configuration: v.Monitor.Configuration(), Drift: v.Services.Drift()}
	for _, p := range v.Services.Projects() {
		service := reconcile.ServicePlanning(p.ID)
		s := v.service(service)
		s.Name, s.Project = p.Name, true
		s.Sources = []status.Source{v.source(service, status.SourcePoll, v.Services.PollInterval(), "poll:"+string(p.ID))}
		out.Services = append(out.Services, s)
	}
	budgets, unread := v.Services.Budgets(ctx)
	out.Budgets = budgets
	return out, cmp.Or(err, unread)
}

// github is the health of GitHub: this process's last requests, and the limits of all replicas.
func (v View) github(ctx context.Context) (status.ServiceHealth, error) {
	s := v.service(reconcile.ServiceGitHub)
	s.Name = reconcile.ServiceGitHub
	s.Sources = []status.Source{
		v.source(reconcile.ServiceGitHub, status.SourceDelivery, 0, ""),
		v.source(reconcile.ServiceGitHub, status.SourceCatchUp, v.Services.CatchUpInterval(), "catchup"),
	}
	pause, err := v.Services.Held(ctx)
	if pause > 0 && s.State != status.ServiceDown {
		s.State, s.Until = status.ServiceLimited, v.Clock.Now().UTC().Add(pause)
	}
	return s, err
}

// service is the health of a service from its last requests. A service with an open breaker is
// down.
func (v View) service(service string) status.ServiceHealth {
	met := v.Monitor.Service(service)
	s := status.ServiceHealth{Service: service, State: status.ServiceUp, Answered: met.Answered, Error: met.Error, Failed: met.Failed}
	switch {
	case v.Services.Down(service):
		s.State = status.ServiceDown
	case met.Shut():
		s.State = status.ServiceRefused
	case met.Answered.IsZero():
		s.State = status.ServiceUnknown
	default:
		s.Failing = failing(met.Failing, v.Clock.Now())
	}
	return s
}

const (
	// failures in a row make an operation a failing one: fewer are tried again at once.
	failures = 3
	// failingFor is how long after its last request an operation counts as failing.
	failingFor = 10 * time.Minute
)

// failing lists the operations that fail while the service answers others.
func failing(operations map[string]Failing, now time.Time) (out []status.FailingOperation) {
	for name, f := range mapping.Sorted(operations) {
		if f.Times >= failures && now.Sub(f.Last) < failingFor {
			out = append(out, status.FailingOperation{Operation: name, Since: f.Since, Times: f.Times, Error: f.Error})
		}
	}
	return out
}

// source is when one source of changes last succeeded. The replica with the lease asks it.
func (v View) source(service, what string, every time.Duration, lease string) status.Source {
	return status.Source{
		What: what, At: v.Monitor.Service(service).Heard[what], Every: every.Seconds(), Elsewhere: v.Monitor.Elsewhere(lease),
	}
}
