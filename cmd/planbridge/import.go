package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

type importCmd struct {
	output
	leased
	Route  string  `placeholder:"NAME" help:"Only this route."`
	DryRun bool    `help:"Say what would be done, and write nothing."`
	Match  *string `placeholder:"title" enum:"title" help:"Before anything is made look for partners: join an issue and a card that have the same title, where each is the only one."`
	State  string  `placeholder:"open|all" enum:"open,all" default:"open" help:"Which issues to take: open ones, or closed ones, too."`
}

// Help is what planbridge import --help adds.
func (c *importCmd) Help() string {
	return `An import takes what is older than the service: issues that nobody touched since a route began to run become cards, and old cards
of a route that makes issues become issues. It runs in the service, behind all live changes; where no service runs, this command is
one until the import is done. It may be interrupted, run again, and run twice, at any moment: nothing is made twice. Issues are made within
two thirds of GitHub's write budget; --dry-run says how long that takes and what bounds it. With --match it says in what the pairs differ
that would be joined, and whose value would stand.`
}

// Run implements the command.
func (c *importCmd) Run(ctx context.Context, p *process) error {
	return withServices(ctx, p, servicing{looks: c.DryRun, lease: c.Lease}, func(api *client) error {
		ask := status.ImportAsk{Route: c.Route, DryRun: c.DryRun, State: c.State}
		if c.Match != nil {
			ask.Match = *c.Match
		}
		progress := newProgress(p.stderr)
		job, err := api.follow(ctx, "/api/v1/import", ask, progress.show)
		progress.end()
		if err != nil {
			return err
		}
		if err := c.print(p, job, func() error { return importReport(p.stdout, &job) }); err != nil {
			return err
		}
		switch {
		case job.State == status.JobFailed:
			return fmt.Errorf("%s", job.Error)
		case job.Import.Failed > 0:
			return errReported
		}
		return nil
	})
}

func importReport(w io.Writer, job *status.Job) error {
	r := job.Import
	fmt.Fprintf(w, "%s seen, %d linked already\n", mapping.Count(r.Seen, "issue", "issues"), r.Known-r.UnderWay)
	verb, joined, was, were, waited := "became", "joined", "was", "were", ", and waited for"
	if r.DryRun {
		verb, joined, was, were, waited = "would become", "would be joined", "would be", "would be", ""
	}
	for _, line := range []struct {
		n         int
		one, many string
	}{
		{r.Cards, "issue " + verb + " a card", "issues " + verb + " cards"},
		{r.Issues, "card " + verb + " an issue", "cards " + verb + " issues"},
		{r.Joined, "pair " + joined, "pairs " + joined},
		{r.Found, "pair " + was + " linked again by its marker", "pairs " + were + " linked again by their markers"},
		{r.UnderWay, "was under way before" + waited, "were under way before" + waited},
		{r.Children, "sub-issue follows its parent", "sub-issues follow their parents"},
		{r.Ambiguous, "left alone: more than one has the title", "left alone: more than one has the title"},
		{r.Out, "issue or card stays out: " + reasons(r.OutWhy), "issues and cards stay out: " + reasons(r.OutWhy)},
		{r.Handed, "sub-issue was handed to its parent, to become a task", "sub-issues were handed to their parents, to become tasks"},
		{r.Dropped, "was not to be imported any more when its turn came", "were not to be imported any more when their turn came"},
		{r.Failed, "given up (planbridge failures)", "given up (planbridge failures)"},
	} {
		if line.n > 0 {
			fmt.Fprintln(w, mapping.Count(line.n, line.one, line.many))
		}
	}
	if r.Forecast >= 1 && r.DryRun {
		fmt.Fprintf(w, "GitHub's write budget makes %s and the labels of %s take %s; %s bounds it\n", mapping.Count(r.Issues, "new issue", "new issues"), mapping.Count(r.Labels, "issue", "issues"), seconds(r.Forecast), r.Bound)
	}
	if len(r.Items) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	t := newTable(w, "ITEM", "WHAT", "PARTNER", "ROUTE", "TITLE", "WHY")
	for _, i := range r.Items {
		t.row(i.Where, i.What, i.Partner, i.Route, brief(i.Title), i.Why)
	}
	if r.More {
		t.row("…")
	}
	if err := t.flush(); err != nil {
		return err
	}
	return importDifferences(w, r.Items)
}

// importDifferences lists the differences of pairs that would be joined, and the winning sides.
func importDifferences(w io.Writer, items []status.ImportItem) error {
	if !slices.ContainsFunc(items, func(i status.ImportItem) bool { return len(i.Differs) > 0 }) {
		return nil
	}
	fmt.Fprintln(w)
	t := newTable(w, "PAIR", "ATTRIBUTE", "WINS", "GITHUB", "PLANNING", "WHY")
	for _, i := range items {
		for _, d := range i.Differs {
			t.row(i.Where, d.Attribute, d.Wins, brief(d.GitHub), brief(d.Planning), d.Why)
		}
	}
	return t.flush()
}

// reasons lists why issues stay out, with the number of issues for each reason.
func reasons(why map[string]int) string {
	var out []string
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		out = append(out, fmt.Sprintf("%s (%d)", oneLine(reason), why[reason]))
	}
	return strings.Join(out, ", ")
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}
