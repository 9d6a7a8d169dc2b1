package main

import (
	"context"
	"errors"
	"fmt"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

type decommissionCmd struct {
	output
	leased
	Route  string `arg:"" help:"The route, which is paused, or no longer configured."`
	DryRun bool   `help:"Say what would be taken off, and write nothing."`
}

// Help is what planbridge decommission --help adds.
func (c *decommissionCmd) Help() string {
	return `Labels that show planning's state, milestones of sprints, footers and markers are taken off the issues, cards and tasks of the route's
pairs. Then each pair is parted, as by unlink. What people wrote, their labels, and comments stay. GitHub's write budget paces it. It may be
interrupted and run again at any moment. What was begun goes on in a service that runs.`
}

// Run implements the command.
func (c *decommissionCmd) Run(ctx context.Context, p *process) error {
	return cleaning{c.output, c.leased, status.CleanAsk{Route: c.Route, DryRun: c.DryRun}}.run(ctx, p)
}

// cleaning is a command that takes pairs apart, or moves them.
type cleaning struct {
	output
	leased
	ask status.CleanAsk
}

func (c cleaning) run(ctx context.Context, p *process) error {
	return withServices(ctx, p, servicing{looks: c.ask.DryRun, lease: c.Lease}, func(api *client) error {
		progress := newProgress(p.stderr)
		job, err := api.follow(ctx, "/api/v1/clean", c.ask, progress.show)
		progress.end()
		if err != nil {
			return err
		}
		if err := c.print(p, job, func() error { return cleanReport(p, c.ask, job.Clean) }); err != nil {
			return err
		}
		switch {
		case job.State == status.JobFailed:
			return errors.New(job.Error)
		case job.Clean.Failed > 0:
			return errReported
		}
		return nil
	})
}

func cleanReport(p *process, ask status.CleanAsk, r *status.CleanResult) error {
	switch {
	case ask.Moves():
		moveReport(p, ask, r)
	case r.DryRun:
		fmt.Fprintf(p.stdout, "%s taken apart; apart before: %d\n", mapping.Count(r.Links-r.There, "pair would be", "pairs would be"), r.There)
	default:
		fmt.Fprintf(p.stdout, "%d of %s taken apart; apart before: %d\n", r.Parted, mapping.Count(r.Links, "pair is", "pairs are"), r.There)
	}
	if r.Refused != "" {
		fmt.Fprintf(p.stdout, "a run would be refused now: %s\n", r.Refused)
	}
	if len(r.Steps) == 0 {
		return nil
	}
	t := newTable(p.stdout, "ITEM", "SIDE", "WHAT")
	for _, s := range r.Steps {
		t.row(s.Item, s.Side, s.What)
	}
	if r.More {
		t.row("…")
	}
	return t.flush()
}
