package metrics

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/mapping"
	"planbridge/store"
)

// gauges are the metrics that each scrape reads from the store. Each project is a source of its
// own, so that a slow one delays no other.
type gauges struct {
	Options
	tallies readings[store.Tally]
	spaces  readings[[]mapping.ObjectID] // of the store, under project ""

	depth, oldest, links, failures *prometheus.Desc
	age, remaining                 *prometheus.Desc
}

func newGauges(o Options) *gauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("planbridge_"+name, help, labels, nil)
	}
	g := &gauges{
		Options:   o,
		depth:     desc("queue_depth", "Keys in the queue."),
		oldest:    desc("queue_oldest_seconds", "How long the key that is overdue longest has been due."),
		links:     desc("links", "Links, by state.", "route", "state"),
		remaining: desc("github_rate_limit_remaining", "Requests left of GitHub's primary limit, as of its last answer; absent while no answer told."),
		failures:  desc("failures", "Keys that were given up and wait for an operator or a new change.", "route"),
		age:       desc("gauges_age_seconds", "How long ago the store told what the gauges of the queue, of links and of failures show.", "project"),
	}
	g.tallies = readings[store.Tally]{guard: o.Guard, clock: o.Clock, what: "scrape tally of project", read: o.Store.Tally}
	g.spaces = readings[[]mapping.ObjectID]{guard: o.Guard, clock: o.Clock, what: "scrape projects of the store", read: func(ctx context.Context, _ mapping.ObjectID) ([]mapping.ObjectID, error) {
		return o.Store.Projects(ctx)
	}}
	return g
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.depth, g.oldest, g.links, g.failures, g.age, g.remaining} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Where a project's part of the store does not answer
// for a while, the gauges that need it are absent.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if n := g.Source.RateRemaining(); n >= 0 {
		gauge(g.remaining, float64(n))
	}
	routes := g.Source.Routes()
	all := g.tallies.ask(routes.Projects())
	depth, oldest, now := 0, time.Duration(0), g.Clock.Now()
	for project, t := range all {
		gauge(g.age, now.Sub(t.at).Seconds(), routes.ProjectName(project))
		depth += t.value.Queued
		if !t.value.Oldest.IsZero() {
			oldest = max(oldest, now.Sub(t.value.Oldest))
		}
	}
	if len(all) == len(routes.Projects()) { // the sum is complete
		gauge(g.depth, float64(depth))
		gauge(g.oldest, oldest.Seconds())
	}
	var counts store.Tally
	for _, r := range routes.All() {
		if t, known := all[r.Project]; known && t.value.Links != nil {
			expectCounts(&counts, r.Name)
		}
	}
	for _, t := range all {
		counts.Add(t.value)
	}
	for _, t := range g.tallies.ask(g.unnamed(routes)) {
		counts.Add(t.value.WithoutProject())
	}
	for route, n := range counts.Failures {
		gauge(g.failures, float64(n), route)
	}
	for route, states := range counts.Links {
		for state, n := range states {
			gauge(g.links, float64(n), route, string(state))
		}
	}
}

// unnamed lists the store's projects that planning.projects lacks.
func (g *gauges) unnamed(routes mapping.Routes) []mapping.ObjectID {
	spaces := g.spaces.ask([]mapping.ObjectID{""})[""]
	return slices.DeleteFunc(slices.Clone(spaces.value), routes.Names)
}

// expectCounts adds zero counts for a route.
func expectCounts(t *store.Tally, route string) {
	for _, state := range mapping.LinkStates {
		t.Count(route, state, 0)
	}
	t.Failures[route] += 0
}
