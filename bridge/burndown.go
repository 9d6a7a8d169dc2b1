package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/mapping"
	"planbridge/store"
)

// Burndown reads a sprint's chart for the poller.
func (p *planningSide) Burndown(ctx context.Context, sprint mapping.ObjectID) (mapping.Burndown, error) {
	b, err := p.PlanningClient.Burndown(ctx, sprint)
	return mapping.Burndown{Start: b.Start, End: b.End, Days: b.NumDays, Original: b.OriginalEstimate, Remaining: b.Remaining}, err
}

// Burndown returns the burndown charts of a project's sprints, active ones
// first, as the poll last read them.
func (o *Operator) Burndown(ctx context.Context, project mapping.ObjectID) ([]mapping.Burndown, error) {
	data, err := o.store.Doc(ctx, project, store.DocBurndown)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	var charts []mapping.Burndown
	if err == nil {
		err = json.Unmarshal(data, &charts)
	}
	if err != nil {
		return nil, fmt.Errorf("read burndowns: %w", err)
	}
	return charts, nil
}

// Burndowns returns those of all projects, by the operator's names of them.
func (o *Operator) Burndowns(ctx context.Context) (map[string][]mapping.Burndown, error) {
	out := map[string][]mapping.Burndown{}
	for _, project := range o.set().projects() {
		charts, err := o.Burndown(ctx, project)
		if err != nil {
			return nil, err
		}
		out[o.projectName(project)] = charts
	}
	return out, nil
}

// sprintGauge is the metric of the hours that remain in active sprints.
type sprintGauge struct {
	op     *Operator
	desc   *prometheus.Desc
	charts readings[[]mapping.Burndown]
}

func newSprintGauge(op *Operator) *sprintGauge {
	return &sprintGauge{
		op: op,
		desc: prometheus.NewDesc("planbridge_sprint_remaining_hours",
			"Hours of work that are left in a sprint, as planning's burndown has it.", []string{"project", "sprint"}, nil),
		charts: readings[[]mapping.Burndown]{guard: op.guard, what: "scrape sprints of project", read: op.Burndown},
	}
}

// Describe implements prometheus.Collector.
func (g *sprintGauge) Describe(ch chan<- *prometheus.Desc) { ch <- g.desc }

// Collect implements prometheus.Collector. Of sprints that have one title, all
// but the first are told apart by their ids.
func (g *sprintGauge) Collect(ch chan<- prometheus.Metric) {
	for project, charts := range g.charts.ask(g.op.set().projects()) {
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
			ch <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, c.Now(time.Now()), g.op.projectName(project), name)
		}
	}
}
