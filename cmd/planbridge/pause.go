package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"planbridge/bridge/status"
)

type pauseCmd struct {
	output
	Route string `arg:"" help:"The route's name."`
}

// Help is what planbridge pause --help adds.
func (c *pauseCmd) Help() string {
	return `While a route is paused its changes are taken and wait, on every replica (others than the one that is asked follow within seconds),
until planbridge resume. It outlasts restarts.`
}

// Run implements the command.
func (c *pauseCmd) Run(ctx context.Context, p *process) error {
	return command(ctx, p, c.output, "/api/v1/routes/"+url.PathEscape(c.Route)+"/pause", "route %s is paused\n")
}

type resumeCmd struct {
	output
	Route string `arg:"" help:"The route's name."`
}

// Run implements the command.
func (c *resumeCmd) Run(ctx context.Context, p *process) error {
	return command(ctx, p, c.output, "/api/v1/routes/"+url.PathEscape(c.Route)+"/resume", "route %s goes on\n")
}

type unlinkCmd struct {
	output
	leased
	Issue  string `arg:"" help:"acme/web#12, the address of an issue, or the id of a card, a task or a link."`
	Clean  bool   `help:"Take off first what planbridge made on both items: labels, milestone, footers and markers."`
	DryRun bool   `help:"With --clean: say what would be taken off, and write nothing."`
}

// Help is what planbridge unlink --help adds.
func (c *unlinkCmd) Help() string {
	return `The link stays, dormant, so that neither the issue nor the card enters again; planbridge link joins them, or one of them with
another, again. The card keeps the footer that names the issue, unless --clean takes it off. What people wrote, and their labels, stay.`
}

// Run implements the command.
func (c *unlinkCmd) Run(ctx context.Context, p *process) error {
	switch {
	case c.Clean:
		return cleaning{c.output, c.leased, status.CleanAsk{Item: c.Issue, DryRun: c.DryRun}}.run(ctx, p)
	case c.DryRun:
		return misuse{errors.New("unlink: --dry-run is for --clean")}
	}
	return command(ctx, p, c.output, "/api/v1/links/"+url.PathEscape(c.Issue)+"/unlink", "%s is unlinked\n")
}

// command requests an act that is done at once.
func command(ctx context.Context, p *process, o output, path, said string) error {
	return with(ctx, p, func(api *client) error {
		var got status.Accepted
		if err := api.ask(ctx, http.MethodPost, path, nil, &got); err != nil {
			return err
		}
		return o.print(p, got, func() error {
			_, err := fmt.Fprintf(p.stdout, said, got.Accepted)
			return err
		})
	})
}

type linkCmd struct {
	output
	Issue string `arg:"" help:"acme/web#12, or its address."`
	Card  string `arg:"" help:"The card's id."`
}

// Help is what planbridge link --help adds.
func (c *linkCmd) Help() string {
	return `Neither may belong to another pair, unless that was unlinked. What differs between the two is decided by the route's conflict
policies; the losing text is kept. The card gets the footer that names the issue.`
}

// Run implements the command.
func (c *linkCmd) Run(ctx context.Context, p *process) error {
	return withServices(ctx, p, servicing{}, func(api *client) error {
		var got status.Link
		if err := api.ask(ctx, http.MethodPost, "/api/v1/links/"+url.PathEscape(c.Issue)+"/link", status.Join{Card: c.Card}, &got); err != nil {
			return err
		}
		return c.print(p, got, func() error {
			_, err := fmt.Fprintf(p.stdout, "%s is linked with card %s\n", c.Issue, c.Card)
			return err
		})
	})
}
