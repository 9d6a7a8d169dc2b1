package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

type verifyCmd struct {
	output
	Route  string `placeholder:"NAME" help:"Only this route's links."`
	Repair bool   `help:"Look at what differs in full and bring it to agreement."`
}

// Help is what planbridge verify --help adds.
func (c *verifyCmd) Help() string {
	return `Exit status 1 where links differ, or a repository cannot be listed; with --repair, where they still do afterwards.
That includes what a side refused and what a person is asked about: WHY says so.`
}

// Run implements the command.
func (c *verifyCmd) Run(ctx context.Context, p *process) error {
	return withServices(ctx, p, servicing{looks: !c.Repair}, func(api *client) error {
		progress := newProgress(p.stderr)
		job, err := api.follow(ctx, "/api/v1/verify", status.VerifyAsk{Route: c.Route, Repair: c.Repair}, progress.show)
		progress.end()
		if err != nil {
			return err
		}
		if err := c.print(p, job, func() error { return verifyReport(p.stdout, job.Verify) }); err != nil {
			return err
		}
		switch {
		case job.State == status.JobFailed:
			return errors.New(job.Error)
		case len(job.Verify.Differences)+len(job.Verify.Unlisted) > 0:
			return errReported
		}
		return nil
	})
}

func verifyReport(w io.Writer, r *status.VerifyResult) error {
	total := 0
	for _, n := range r.Drift {
		total += n
	}
	fmt.Fprintf(w, "%s compared, %s\n", mapping.Count(r.Links, "link", "links"), mapping.Count(total, "differs", "differ"))
	for _, u := range r.Uncompared {
		more := ""
		if n := u.Links - len(u.Items); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(w, "%d %s, not compared: %s%s\n", u.Links, u.State, strings.Join(u.Items, ", "), more)
	}
	for _, u := range r.Unlisted {
		fmt.Fprintf(w, "%s cannot be listed (route %s): %s\n", u.Repository, u.Route, oneLine(u.Why))
	}
	if r.Repaired > 0 {
		fmt.Fprintf(w, "%d were repaired\n", r.Repaired)
	}
	if len(r.Differences) == 0 {
		return nil
	}
	t := newTable(w, "ITEM", "ROUTE", "ATTRIBUTE", "GITHUB", "PLANNING", "WHY")
	for _, d := range r.Differences {
		t.row(d.Where, d.Route, d.Attribute, brief(d.GitHub), brief(d.Planning), whyOf(d))
	}
	if r.More {
		t.row("…")
	}
	return t.flush()
}

// whyOf says why a difference exists, or is not written.
func whyOf(d status.Difference) string {
	switch mapping.Action(d.Held) {
	case mapping.Ask:
		return "asks a person (planbridge conflicts): " + d.Why
	case mapping.Blocked:
		return "blocked: " + d.Why
	}
	return d.Why
}
