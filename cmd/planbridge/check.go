package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"text/tabwriter"

	"planbridge/bridge/open"
	"planbridge/bridge/preflight"
	"planbridge/bridge/settings"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
)

type checkCmd struct {
	output
	Quiet          bool   `short:"q" help:"Print faults and warnings only."`
	Expand         bool   `xor:"only" help:"Print which route each repository has, and why. Nothing else is looked at."`
	AgainstRunning bool   `help:"Say also which routes the running service has otherwise."`
	CreateWebhook  string `xor:"only" placeholder:"URL" help:"Make the webhooks that are missing on GitHub. URL is the public address of planbridge: https://planbridge.example.com."`
}

// Run implements the command. It fails when a finding is a fault.
func (c *checkCmd) Run(ctx context.Context, p *process) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	if c.Expand {
		return c.expand(ctx, p, cfg)
	}
	hookURL := ""
	if c.CreateWebhook != "" {
		if hookURL, err = preflight.WebhookURL(c.CreateWebhook); err != nil {
			return misuse{err}
		}
	}
	plan, quiet := settings.Read(cfg).Plan(), slog.New(slog.DiscardHandler)
	plan.HookURL, plan.AgainstRunning = hookURL, c.AgainstRunning
	findings := preflight.Check(ctx, plan, open.Preflight{Config: cfg, Running: newClient(cfg), Logger: quiet}, quiet)
	if c.AgainstRunning {
		findings = append(findings, againstRunning(ctx, cfg))
	}
	counts := map[preflight.Level]int{}
	for _, f := range findings {
		counts[f.Level]++
	}
	err = c.print(p, map[string]any{"findings": findings, "summary": counts}, func() error { return c.report(p.stdout, findings) })
	if err == nil && counts[preflight.LevelFault] > 0 {
		return errReported
	}
	return err
}

// report prints the findings, faults first, and how many lines there are of each level.
func (c *checkCmd) report(out io.Writer, findings []preflight.Finding) error {
	lines, shown := map[preflight.Level]int{}, preflight.Group(findings)
	for _, f := range shown {
		lines[f.Level]++
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, level := range []preflight.Level{preflight.LevelFault, preflight.LevelWarn, preflight.LevelOK} {
		for _, f := range shown {
			if f.Level == level && (level != preflight.LevelOK || !c.Quiet || c.AgainstRunning && slices.Contains(changed, f.Place)) {
				fmt.Fprintf(w, "%s\t%s: %s\n", f.Level, oneLine(f.Place), oneLine(f.Words))
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s, %s, %d ok\n",
		mapping.Count(lines[preflight.LevelFault], "fault", "faults"), mapping.Count(lines[preflight.LevelWarn], "warning", "warnings"), lines[preflight.LevelOK])
	return err
}

// expand prints the effective route of each repository.
func (c *checkCmd) expand(ctx context.Context, p *process, cfg *config.Config) error {
	list, err := preflight.Expand(ctx, settings.Read(cfg).Plan(), open.Preflight{Config: cfg, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	return c.print(p, map[string]any{"repositories": list}, func() error {
		t := newTable(p.stdout, "REPOSITORY", "ROUTE", "PROJECT", "BUCKET", "WHY")
		for _, e := range list {
			t.row(e.Repository, e.Route, e.Project, e.Bucket, e.Why)
		}
		return t.flush()
	})
}

// runningService is the place of the finding that --against-running asks for.
const runningService = "running service"

// changed are the places of findings about changes by a reload. With --against-running, -q keeps
// them.
var changed = []string{runningService, preflight.PlaceLinks}

// againstRunning lists the changes of the running service's routes by a reload.
func againstRunning(ctx context.Context, cfg *config.Config) preflight.Finding {
	var running struct {
		Routes []mapping.Route `json:"routes"`
	}
	f := preflight.Finding{Level: preflight.LevelOK, Place: runningService}
	if err := newClient(cfg).ask(ctx, http.MethodGet, status.PathRoutes, nil, &running); err != nil {
		f.Level, f.Words = preflight.LevelWarn, "it was not asked for its routes: "+err.Error()
		return f
	}
	changes := mapping.NewRoutes(running.Routes).ChangesTo(settings.Read(cfg).Routes)
	f.Words = "a reload changes no route"
	if !changes.None() {
		f.Words = "what a reload changes of the routes: " + changes.String()
	}
	return f
}
