package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
)

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
	for _, project := range o.projects() {
		charts, err := o.Burndown(ctx, project)
		if err != nil {
			return nil, err
		}
		out[o.set().Routes.ProjectName(project)] = charts
	}
	return out, nil
}
