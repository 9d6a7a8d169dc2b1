package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"text/tabwriter"

	"planbridge/bridge"
	"planbridge/bridge/preflight"
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
		if hookURL, err = preflight.HookURL(c.CreateWebhook); err != nil {
			return err
		}
	}
	findings := bridge.Check(ctx, cfg, hookURL, newClient(cfg).eachLink, slog.New(slog.DiscardHandler))
	if c.AgainstRunning {
		findings = append(findings, againstRunning(ctx, cfg))
	}
	counts := map[preflight.Level]int{}
	for _, f := range findings {
		counts[f.Level]++
	}
	err = c.print(p, map[string]any{"findings": findings, "summary": counts}, func() error {
		w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		for _, level := range []preflight.Level{preflight.LevelFault, preflight.LevelWarn, preflight.LevelOK} {
			for _, f := range together(findings) {
				if f.Level == level && (level != preflight.LevelOK || !c.Quiet || f.Place == runningService) {
					fmt.Fprintf(w, "%s\t%s: %s\n", f.Level, oneLine(f.Place), oneLine(f.Words))
				}
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.stdout, "%d faults, %d warnings, %d ok\n", counts[preflight.LevelFault], counts[preflight.LevelWarn], counts[preflight.LevelOK])
		return err
	})
	if err == nil && counts[preflight.LevelFault] > 0 {
		return errReported
	}
	return err
}

// namedTogether is how many repositories of one finding are named.
const namedTogether = 3

// together makes one finding of those that say the same of several repositories, as one hook of
// an account may be that of hundreds.
func together(findings []preflight.Finding) []preflight.Finding {
	const repository = "repository "
	var out []preflight.Finding
	names, at := map[preflight.Finding][]string{}, map[preflight.Finding]int{}
	for _, f := range findings {
		name, ok := strings.CutPrefix(f.Place, repository)
		same := preflight.Finding{Level: f.Level, Words: f.Words}
		switch n := len(names[same]); {
		case !ok:
			out = append(out, f)
			continue
		case n == 0:
			at[same], out = len(out), append(out, f)
		case n < namedTogether:
			out[at[same]].Place = "repositories " + strings.Join(append(names[same], name), ", ")
		default:
			out[at[same]].Place = fmt.Sprintf("repositories %s and %d more", strings.Join(names[same][:namedTogether], ", "), n+1-namedTogether)
		}
		names[same] = append(names[same], name)
	}
	return out
}

// expand prints the effective route of each repository.
func (c *checkCmd) expand(ctx context.Context, p *process, cfg *config.Config) error {
	list, err := bridge.Expand(ctx, cfg, slog.New(slog.DiscardHandler))
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

// runningService is the place of the finding that --against-running asks for, which -q keeps.
const runningService = "running service"

// againstRunning says what a reload would change of the running service's routes.
func againstRunning(ctx context.Context, cfg *config.Config) preflight.Finding {
	var running struct {
		Routes []mapping.Route `json:"routes"`
	}
	f := preflight.Finding{Level: preflight.LevelOK, Place: runningService}
	if err := newClient(cfg).ask(ctx, http.MethodGet, status.PathRoutes, nil, &running); err != nil {
		f.Level, f.Words = preflight.LevelWarn, "it was not asked for its routes: "+err.Error()
		return f
	}
	changes := bridge.RouteChanges(running.Routes, cfg)
	f.Words = "a reload changes no route"
	if !changes.None() {
		f.Words = "what a reload changes of the routes: " + changes.String()
	}
	return f
}
