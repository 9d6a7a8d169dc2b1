package main

import (
	"context"
	"fmt"
	"net/http"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

type eraseCmd struct {
	output
	Item     string `arg:"" optional:"" help:"acme/web#12, the address of an issue, or the id of a card, a task or a link."`
	Author   string `help:"Erase the links of all issues that this GitHub login opened." placeholder:"LOGIN"`
	Comments bool   `help:"Delete the comments on GitHub that hold texts which lost a conflict."`
}

// Help is what planbridge erase --help adds.
func (c *eraseCmd) Help() string {
	return `Texts of the link are removed from planbridge's store: what both sides agreed on, snapshots, history, and the conflict ledger. The ids
stay, so that neither item enters again. Nothing is synchronised until planbridge link joins the pair anew. The issue and the card keep their
texts. Sub-issues and tasks are erased with their issue. Backups of the store are not touched.`
}

// Run implements the command.
func (c *eraseCmd) Run(ctx context.Context, p *process) error {
	if (c.Item == "") == (c.Author == "") {
		return misuse{fmt.Errorf("erase: expected one of an item and --author LOGIN")}
	}
	ask := status.EraseAsk{Item: c.Item, Author: c.Author, Comments: c.Comments}
	question := func(api *client) error { return c.ask(ctx, p, api, ask) }
	if c.Comments {
		return withServices(ctx, p, servicing{}, question)
	}
	return with(ctx, p, question)
}

func (c *eraseCmd) ask(ctx context.Context, p *process, api *client, ask status.EraseAsk) error {
	var got status.Erased
	if err := api.ask(ctx, http.MethodPost, "/api/v1/erase", ask, &got); err != nil {
		return err
	}
	return c.print(p, got, func() error { return printErased(p, got) })
}

func printErased(p *process, got status.Erased) error {
	for _, l := range got.Links {
		fmt.Fprintf(p.stdout, "%s is erased\n", l.Where)
	}
	for _, why := range got.Kept {
		fmt.Fprintf(p.stdout, "kept: %s\n", why)
	}
	if got.Conflicts > 0 {
		fmt.Fprintf(p.stdout, "%s of the conflict ledger\n", mapping.Count(got.Conflicts, "entry is erased", "entries are erased"))
	}
	failed := false
	for _, k := range got.Comments {
		what := "still holds a text; --comments deletes it"
		switch {
		case k.Deleted:
			what = "is deleted"
		case k.Error != "":
			what, failed = "could not be deleted: "+k.Error, true
		}
		fmt.Fprintf(p.stdout, "comment %d on %s %s\n", k.ID, k.Issue, what)
	}
	if got.Warning != "" {
		fmt.Fprintln(p.stderr, "planbridge:", got.Warning)
	}
	if failed {
		return errReported
	}
	return nil
}
