package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"planbridge/bridge/status"
)

type conflictsCmd struct {
	output
	Limit int `default:"100" help:"At most so many."`
}

// Run implements the command.
func (c *conflictsCmd) Run(ctx context.Context, p *process) error {
	return with(ctx, p, func(api *client) error {
		var got status.Conflicts
		if err := api.ask(ctx, http.MethodGet, fmt.Sprintf("/api/v1/conflicts?limit=%d", c.Limit), nil, &got); err != nil {
			return err
		}
		return c.print(p, got, func() error {
			t := newTable(p.stdout, "ID", "AT", "WHERE", "ATTRIBUTE", "WINNER", "RULE", "STATE", "GITHUB", "PLANNING")
			for _, k := range got.Conflicts {
				t.row(k.ID, moment(k.At), k.Where, k.Attribute, cmp.Or(k.Winner, "asked"), k.Rule, k.State, brief(k.GitHub), brief(k.Planning))
			}
			return t.flush()
		})
	})
}
