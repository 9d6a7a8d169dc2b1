package metrics

import (
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

// conditions are the metrics of lasting states: an open breaker, a paused route, unanswered
// questions.
type conditions struct {
	Options
	questions readings[map[string]int]
	budgets   readings[[]status.Budget] // of no project

	breaker, paused, open, budget *prometheus.Desc
}

func newConditions(o Options) *conditions {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("planbridge_"+name, help, labels, nil)
	}
	c := &conditions{
		Options: o,
		breaker: desc("breaker_open", "Whether a service is left alone, as its requests failed in a row.", "api", "project"),
		paused:  desc("route_paused", "Whether an operator paused a route.", "route"),
		open:    desc("open_questions", "Conflicts that people are asked about and that nobody has answered, of routes that ask.", "route"),
	}
	c.budget = desc("github_write_budget_remaining", "Writes that all replicas together may still make to GitHub in a window.", "class", "window")
	c.budgets = readings[[]status.Budget]{guard: o.Guard, clock: o.Clock, what: "scrape budgets", read: func(ctx context.Context, _ mapping.ObjectID) ([]status.Budget, error) {
		return o.Source.Budgets(ctx)
	}}
	c.questions = readings[map[string]int]{guard: o.Guard, clock: o.Clock, what: "scrape questions of project", read: o.Source.Questions}
	return c
}

// Describe implements prometheus.Collector.
func (c *conditions) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.breaker, c.paused, c.open, c.budget} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *conditions) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	routes := c.Source.Routes()
	gauge(c.breaker, oneIf(c.Source.GitHubDown()), "github", "")
	for _, id := range routes.Projects() {
		if down, known := c.Source.PlanningDown(id); known {
			gauge(c.breaker, oneIf(down), "planning", routes.ProjectName(id))
		}
	}
	for _, b := range c.budgets.ask([]mapping.ObjectID{""})[""].value {
		gauge(c.budget, float64(b.Left), b.Name, b.Window)
	}
	var asking []mapping.ObjectID // projects with routes that ask
	for _, r := range routes.All() {
		gauge(c.paused, oneIf(c.Source.Paused(r.Name)), r.Name)
		if asks(r) {
			asking = append(asking, r.Project)
		}
	}
	counts := c.questions.ask(asking)
	for _, r := range routes.All() {
		if counted, known := counts[r.Project]; known && asks(r) {
			gauge(c.open, float64(counted.value[r.Name]), r.Name)
		}
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// asks reports whether a route may ask people about any attribute.
func asks(r *mapping.Route) bool {
	return slices.ContainsFunc(mapping.Attributes, r.Asks)
}
