// Package metrics shows what the store holds and what holds for a while, whenever somebody
// scrapes. What a store does not tell in time is left out.
package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/guard"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Store is the part of the store that metrics are read off.
type Store interface {
	Projects(ctx context.Context) ([]mapping.ObjectID, error)
	Tally(ctx context.Context, project mapping.ObjectID) (store.Tally, error)
	Conflicts(ctx context.Context, project mapping.ObjectID, cursor string, n int) (list []mapping.Conflict, next string, err error)
}

// Source tells what holds in this process now.
type Source interface {
	Routes() mapping.Routes
	// Paused reports whether an operator paused a route.
	Paused(route string) bool
	GitHubDown() bool
	// PlanningDown reports whether a project is left alone; known is false where nothing asks it.
	PlanningDown(project mapping.ObjectID) (down, known bool)
	// RateRemaining is what is left of GitHub's primary limit; less than 0: not known.
	RateRemaining() int
	// Budgets are what all replicas together may still write to GitHub.
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
	Now    func() time.Time
}

// Register adds the metrics to a registry.
func Register(r prometheus.Registerer, o Options) {
	r.MustRegister(guardedCollector{newGauges(o), o.Guard, "gauges of the store"}, guardedCollector{newSprintGauge(o), o.Guard, "gauges of sprints"},
		guardedCollector{newConditions(o), o.Guard, "gauges of conditions"})
}

// guardedCollector leaves its metrics out of a scrape in which it panics.
type guardedCollector struct {
	prometheus.Collector
	guard *guard.Guard
	name  string
}

// Collect implements prometheus.Collector.
func (c guardedCollector) Collect(ch chan<- prometheus.Metric) {
	_ = c.guard.Do("scrape", c.name, func() error { c.Collector.Collect(ch); return nil }) // it was logged
}
