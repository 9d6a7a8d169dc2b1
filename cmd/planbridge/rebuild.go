package main

import (
	"context"
	"fmt"
	"net/http"

	"planbridge/bridge/status"
)

type rebuildCmd struct{ output }

// Run implements the command.
func (c *rebuildCmd) Run(ctx context.Context, p *process) error {
	return with(ctx, p, func(api *client) error {
		var got status.Accepted
		if err := api.ask(ctx, http.MethodPost, "/api/v1/rebuild", nil, &got); err != nil {
			return err
		}
		return c.print(p, got, func() error {
			_, err := fmt.Fprintln(p.stdout, "accepted: everything marked is looked at again and missing links are restored, before anything is created")
			return err
		})
	})
}
