package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"text/tabwriter"

	"planbridge/bridge"
)

type checkCmd struct{ output }

// Run implements the command. It fails when a finding is a fault.
func (c *checkCmd) Run(ctx context.Context, p *process) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	findings := bridge.Check(ctx, cfg, newClient(cfg).eachLink, slog.New(slog.DiscardHandler))
	err = c.print(p, map[string]any{"findings": findings}, func() error {
		w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		for _, f := range findings {
			fmt.Fprintf(w, "%s\t%s: %s\n", f.Level, oneLine(f.Place), oneLine(f.Words))
		}
		return w.Flush()
	})
	if err == nil && slices.ContainsFunc(findings, func(f bridge.Finding) bool { return f.Level == bridge.LevelFault }) {
		return errTold
	}
	return err
}
