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
	fmt.Fprintf(w, "%d issues and cards seen, %d linked already\n", r.Seen, r.Known-r.UnderWay)
	verb := "became"
	if r.DryRun {
		verb = "would become"
	}
	for _, line := range []struct {
		n     int
		words string
	}{
		{r.Cards, "issues " + verb + " cards"},
		{r.Issues, "cards " + verb + " issues"},
		{r.Joined, "pairs " + map[bool]string{true: "would be joined", false: "joined"}[r.DryRun]},
		{r.Found, "pairs " + map[bool]string{true: "would be", false: "were"}[r.DryRun] + " linked again by their markers"},
		{r.UnderWay, "were under way before" + map[bool]string{true: "", false: ", and were waited for"}[r.DryRun]},
		{r.Children, "sub-issues follow their parents"},
		{r.Ambiguous, "left alone: more than one has the title"},
		{r.Out, "issues and cards stay out: " + reasons(r.OutWhy)},
		{r.Handed, "sub-issues were handed to their parents, to become tasks"},
		{r.Dropped, "were not to be imported any more when their turn came"},
		{r.Failed, "given up (planbridge failures)"},
	} {
		if line.n > 0 {
			fmt.Fprintf(w, "%d %s\n", line.n, line.words)
		}
	}
	if r.Forecast >= 1 && r.DryRun {
		fmt.Fprintf(w, "GitHub's write budget makes %d new issues and the labels of %d issues take %s; %s bounds it\n", r.Issues, r.Labels, seconds(r.Forecast), r.Bound)
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

// importDifferences lists in what pairs differ that would be joined, and who would win.
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

// reasons lists why issues stay out, and how many each keeps.
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
