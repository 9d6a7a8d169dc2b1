package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"

	"planbridge/bridge/status"
)

type conflictsCmd struct {
	List    conflictsListCmd    `cmd:"" default:"withargs" help:"List the ledger, newest first."`
	Resolve conflictsResolveCmd `cmd:"" help:"Answer a conflict that is asked."`
	Undo    conflictsUndoCmd    `cmd:"" help:"Write the loser of a settled conflict back, unless the value was changed since."`
}

type conflictsListCmd struct {
	output
	Limit atMost `default:"100" help:"At most so many."`
}

// Run implements the command.
func (c *conflictsListCmd) Run(ctx context.Context, p *process) error {
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

type conflictsResolveCmd struct {
	output
	ID     string `arg:"" help:"The conflict's id, as the list shows it."`
	Winner string `arg:"" enum:"planning,github" help:"Whose value is to stand: planning or github."`
}

// Run implements the command.
func (c *conflictsResolveCmd) Run(ctx context.Context, p *process) error {
	return act(ctx, p, c.output, c.ID, "resolve", status.Resolve{Winner: c.Winner})
}

type conflictsUndoCmd struct {
	output
	ID string `arg:"" help:"The conflict's id, as the list shows it."`
}

// Run implements the command.
func (c *conflictsUndoCmd) Run(ctx context.Context, p *process) error {
	return act(ctx, p, c.output, c.ID, "undo", nil)
}

// act requests an act on a conflict. The service does it at once, or when it runs again.
func act(ctx context.Context, p *process, o output, id, what string, in any) error {
	return with(ctx, p, func(api *client) error {
		var got status.Accepted
		if err := api.ask(ctx, http.MethodPost, "/api/v1/conflicts/"+url.PathEscape(id)+"/"+what, in, &got); err != nil {
			return err
		}
		return o.print(p, got, func() error {
			_, err := fmt.Fprintf(p.stdout, "conflict %s: %s accepted\n", got.Accepted, what)
			return err
		})
	})
}
