package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"planbridge/bridge/status"
)

type failuresCmd struct {
	List  failuresListCmd  `cmd:"" default:"withargs" help:"List what was given up, oldest first."`
	Retry failuresRetryCmd `cmd:"" help:"Take failures up again."`
}

type failuresListCmd struct{ output }

// Run implements the command.
func (c *failuresListCmd) Run(ctx context.Context, p *process) error {
	return with(ctx, p, func(api *client) error {
		var got status.Failures
		if err := api.ask(ctx, http.MethodGet, "/api/v1/failures", nil, &got); err != nil {
			return err
		}
		return c.print(p, got, func() error {
			t := newTable(p.stdout, "KEY", "WHERE", "ROUTE", "ATTEMPTS", "SINCE", "REASON")
			for _, f := range got.Failures {
				t.row(f.Key, f.Where, f.Route, strconv.Itoa(f.Attempts), moment(f.At), f.Reason)
			}
			return t.flush()
		})
	})
}

type failuresRetryCmd struct {
	output
	Key string `arg:"" help:"A failure's key or where as the list shows them, or all."`
}

// Run implements the command.
func (c *failuresRetryCmd) Run(ctx context.Context, p *process) error {
	return with(ctx, p, func(api *client) error {
		var got status.Retried
		if err := api.ask(ctx, http.MethodPost, "/api/v1/failures/retry", status.Retry{Key: c.Key}, &got); err != nil {
			return err
		}
		return c.print(p, got, func() error {
			_, err := fmt.Fprintf(p.stdout, "%d taken up again\n", got.Retried)
			return err
		})
	})
}
