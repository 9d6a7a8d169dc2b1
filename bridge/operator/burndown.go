package operator

import (
	"context"

	"planbridge/bridge/burndown"
	"planbridge/mapping"
)

// Burndown returns the burndown charts of a project's sprints, active ones
// first, as the poll last read them.
func (o *Operator) Burndown(ctx context.Context, project mapping.ObjectID) ([]mapping.Burndown, error) {
	return burndown.Read(ctx, o.store, project)
}

// Burndowns returns those of all projects, by the operator's names of them.
func (o *Operator) Burndowns(ctx context.Context) (map[string][]mapping.Burndown, error) {
	out := map[string][]mapping.Burndown{}
	for _, project := range o.projects() {
		charts, err := o.Burndown(ctx, project)
		if err != nil {
			return nil, err
		}
		out[o.set().Routes.ProjectName(project)] = charts
	}
	return out, nil
}
