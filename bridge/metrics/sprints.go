package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/clock"
	"planbridge/mapping"
)

// sprintGauge is the metric of the remaining hours of active sprints.
type sprintGauge struct {
	source Source
	clock  clock.Clock
	desc   *prometheus.Desc
	charts readings[[]mapping.Burndown]
}

func newSprintGauge(o Options) *sprintGauge {
	return &sprintGauge{
		source: o.Source, clock: o.Clock,
		desc: prometheus.NewDesc("planbridge_sprint_remaining_hours",
			"Hours of work that are left in a sprint, as planning's burndown has it.", []string{"project", "sprint"}, nil),
		charts: readings[[]mapping.Burndown]{guard: o.Guard, clock: o.Clock, what: "scrape sprints of project", read: o.Source.Burndown},
	}
}

// Describe implements prometheus.Collector.
func (g *sprintGauge) Describe(ch chan<- *prometheus.Desc) { ch <- g.desc }

// Collect implements prometheus.Collector. Of several sprints with one title, all but the first
// also have their ids in the label.
func (g *sprintGauge) Collect(ch chan<- prometheus.Metric) {
	for project, charts := range g.charts.ask(g.source.Routes().Projects()) {
		taken := map[string]bool{}
		for i := range charts.value {
			c := &charts.value[i]
			if !c.Active {
				continue
			}
			name := c.Title
			if name == "" || taken[name] {
				name += " (" + string(c.Sprint) + ")"
			}
			taken[name] = true
			ch <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, c.Now(g.clock.Now()), g.source.Routes().ProjectName(project), name)
		}
	}
}
