package bridge

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/guard"
	"planbridge/bridge/operator"
	"planbridge/mapping"
)

// Burndown reads a sprint's chart for the poller.
func (p *planningAdapter) Burndown(ctx context.Context, sprint mapping.ObjectID) (mapping.Burndown, error) {
	b, err := p.PlanningClient.Burndown(ctx, sprint)
	return mapping.Burndown{Start: b.Start, End: b.End, Days: b.NumDays, Original: b.OriginalEstimate, Remaining: b.Remaining}, err
}

// sprintGauge is the metric of the hours that remain in active sprints.
type sprintGauge struct {
	op     *operator.Operator
	set    *current
	desc   *prometheus.Desc
	charts readings[[]mapping.Burndown]
}

func newSprintGauge(op *operator.Operator, set *current, g *guard.Guard) *sprintGauge {
	return &sprintGauge{
		op: op, set: set,
		desc: prometheus.NewDesc("planbridge_sprint_remaining_hours",
			"Hours of work that are left in a sprint, as planning's burndown has it.", []string{"project", "sprint"}, nil),
		charts: readings[[]mapping.Burndown]{guard: g, what: "scrape sprints of project", read: op.Burndown},
	}
}

// Describe implements prometheus.Collector.
func (g *sprintGauge) Describe(ch chan<- *prometheus.Desc) { ch <- g.desc }

// Collect implements prometheus.Collector. Of sprints that have one title, all
// but the first are told apart by their ids.
func (g *sprintGauge) Collect(ch chan<- prometheus.Metric) {
	for project, charts := range g.charts.ask(g.set.Settings().Routes.Projects()) {
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
			ch <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, c.Now(time.Now()), g.set.Settings().Routes.ProjectName(project), name)
		}
	}
}
