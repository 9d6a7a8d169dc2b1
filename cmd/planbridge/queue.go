package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

type queueCmd struct {
	output
	Limit int `default:"50" help:"How many to list."`
}

// Run implements the command.
func (c *queueCmd) Run(ctx context.Context, p *process) error {
	return with(ctx, p, func(api *client) error {
		var got status.Queue
		if err := api.ask(ctx, http.MethodGet, "/api/v1/queue?limit="+strconv.Itoa(c.Limit), nil, &got); err != nil {
			return err
		}
		return c.print(p, got, func() error {
			t := newTable(p.stdout, "KEY", "WHERE", "ROUTE", "STANDS")
			for _, at := range got.Keys {
				t.row(at.Key, at.Where, at.Route, describe(&at))
			}
			return t.flush()
		})
	})
}

// describe describes a key's state in the queue.
func describe(at *status.Standing) string {
	switch at.State {
	case "resting":
		return "not queued"
	case "due":
		return "due since " + moment(at.At)
	case "worked":
		if at.Worker == "" {
			return "leased until " + moment(at.At) + " by another process"
		}
		return "leased until " + moment(at.At) + " by " + at.Worker
	case "later":
		return "waits until " + moment(at.At) + ": " + at.Reason
	case "waiting":
		return "waits for " + at.WaitsFor + " since " + moment(at.At) + ": " + at.Reason
	case "parked":
		return fmt.Sprintf("parked since %s after %s: %s", moment(at.At), mapping.Count(at.Attempts, "attempt", "attempts"), at.Reason)
	case "dormant":
		return "is dormant: " + at.Reason
	}
	return at.State
}
