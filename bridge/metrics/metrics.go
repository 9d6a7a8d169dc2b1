// Package metrics shows the store's counts and lasting states at each scrape. It leaves out
// values that the store does not return in time.
package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Store is the part of the store that the metrics read.
type Store interface {
	Projects(ctx context.Context) ([]mapping.ObjectID, error)
	Tally(ctx context.Context, project mapping.ObjectID) (store.Tally, error)
	Conflicts(ctx context.Context, project mapping.ObjectID, cursor string, n int) (list []mapping.Conflict, next string, err error)
}

// Source has the present states of this process.
type Source interface {
	Routes() mapping.Routes
	// Paused reports whether an operator paused a route.
	Paused(route string) bool
	GitHubDown() bool
	// PlanningDown reports whether a project's breaker is open; known is false where no client
	// uses it.
	PlanningDown(project mapping.ObjectID) (down, known bool)
	// RateRemaining is the remainder of GitHub's primary limit; below 0: unknown.
	RateRemaining() int
	// Budgets are the writes to GitHub that all replicas together may still make.
	Budgets(ctx context.Context) ([]status.Budget, error)
	// Questions counts a project's open questions by route.
	Questions(ctx context.Context, project mapping.ObjectID) (map[string]int, error)
	// Burndown returns the charts of a project's sprints.
	Burndown(ctx context.Context, project mapping.ObjectID) ([]mapping.Burndown, error)
}

// Options configure the metrics. All fields are required.
type Options struct {
	Store  Store
	Source Source
	Guard  *guard.Guard
	Clock  clock.Clock
}

// Register adds the metrics to a registry.
func Register(r prometheus.Registerer, o Options) {
	r.MustRegister(guardedCollector{newGauges(o), o.Guard, "gauges of the store"}, guardedCollector{newSprintGauge(o), o.Guard, "gauges of sprints"},
		guardedCollector{newConditions(o), o.Guard, "gauges of conditions"})
}

// guardedCollector omits its metrics from a scrape in which it panics.
type guardedCollector struct {
	prometheus.Collector
	guard *guard.Guard
	name  string
}

// Collect implements prometheus.Collector.
func (c guardedCollector) Collect(ch chan<- prometheus.Metric) {
	_ = c.guard.Do("scrape", c.name, func() error { c.Collector.Collect(ch); return nil }) // Do logged it
}
