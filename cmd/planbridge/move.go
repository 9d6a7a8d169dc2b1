package main

import (
	"context"
	"fmt"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

type moveCmd struct {
	output
	leased
	Route   string `arg:"" help:"The route, whose project and bucket are another one in the configuration by now."`
	Project string `required:"" placeholder:"NAME" help:"The project that the route leads to, by its name in the configuration or its id."`
	Bucket  string `required:"" placeholder:"TITLE" help:"The bucket there, by its title or its id."`
	DryRun  bool   `help:"Say what would be done, before or after the configuration is changed, and write nothing."`
}

// Help is what planbridge move --help adds.
func (c *moveCmd) Help() string {
	return `Planning moves no card to another project. So each issue of the route gets a new card there, with its tasks, and the old card stays where
it is, without its footer. What both sides agree on stands on the new card. Ask with --dry-run first, then change project and bucket of the
route in the configuration, reload, and run the command. It may be interrupted and run again at any moment. What was begun goes on in a service
that runs. Within a project people move cards to another bucket, and their pairs follow.`
}

// Run implements the command.
func (c *moveCmd) Run(ctx context.Context, p *process) error {
	ask := status.CleanAsk{Route: c.Route, Project: c.Project, Bucket: c.Bucket, DryRun: c.DryRun}
	return cleaning{c.output, c.leased, ask}.run(ctx, p)
}

// moveReport prints first the outcome for the pairs of a route that moves.
func moveReport(p *process, ask status.CleanAsk, r *status.CleanResult) {
	pairs := mapping.Count(r.Links, "pair is", "pairs are")
	if r.DryRun {
		pairs = mapping.Count(r.Links, "pair would be", "pairs would be")
	}
	fmt.Fprintf(p.stdout, "%d of %s moved to bucket %s of project %s; there before: %d; staying: %d; not yet possible: %d\n",
		r.Moved, pairs, ask.Bucket, ask.Project, r.There, r.Stayed, r.Failed)
	if r.Forecast >= 1 && r.DryRun {
		fmt.Fprintf(p.stdout, "GitHub's write budget makes %s take %s; %s bounds it\n", mapping.Count(r.Writes, "write", "writes"), seconds(r.Forecast), r.Bound)
	}
}
