package main

import (
	"context"
	"net/url"
)

type acceptCmd struct {
	Repository acceptRepositoryCmd `cmd:"" help:"Believe the repository that has a name now."`
	Account    acceptAccountCmd    `cmd:"" help:"Believe the account that has a login now."`
}

// Help is what planbridge accept --help adds.
func (c *acceptCmd) Help() string {
	return `What a name of the configuration stands for is remembered by its database id when it is first seen. Where another one has
the name later, a line of the log says so, with this command: it is believed from then on, in place of the one before.`
}

type acceptRepositoryCmd struct {
	output
	Name string `arg:"" help:"acme/web."`
}

// Run implements the command.
func (c *acceptRepositoryCmd) Run(ctx context.Context, p *process) error {
	return command(ctx, p, c.output, "/api/v1/accept/repository/"+url.PathEscape(c.Name), "%s is the repository that has the name now\n")
}

type acceptAccountCmd struct {
	output
	Login string `arg:"" help:"octocat."`
}

// Run implements the command.
func (c *acceptAccountCmd) Run(ctx context.Context, p *process) error {
	return command(ctx, p, c.output, "/api/v1/accept/account/"+url.PathEscape(c.Login), "%s is the account that has the login now\n")
}
