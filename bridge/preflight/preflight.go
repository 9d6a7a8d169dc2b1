// Package preflight proves a configuration against the live services, by reading alone. On
// request it creates missing webhooks.
package preflight

import (
	"context"
	"log/slog"
	"maps"
	"slices"
)

// Check proves a configuration against the live services. It writes nothing but the webhooks
// that [Plan].HookURL asks for. A service that is down is a fault among the others and stops nothing. The
// findings have the order of the file: secrets, store, projects, GitHub, routes. The last ones are about
// links that are where no route leads now.
func Check(ctx context.Context, plan *Plan, services Services, log *slog.Logger) []Finding {
	k := newChecker(plan, services, log)
	found := k.all(ctx)
	if k.github != nil {
		defer k.github.Close()
	}
	return append(found, runProbes(ctx, []probe{{PlaceLinks, k.links}})...)
}

// all checks everything that the configuration names.
func (k *checker) all(ctx context.Context) []Finding {
	probes := append([]probe{{"secrets", k.secrets}, {"configuration", k.doubts}, {"store", k.store}}, k.plannings()...)
	hub, err := k.services.OpenGitHub()
	if err != nil {
		return append(runProbes(ctx, probes), Finding{Level: LevelFault, Place: "github", Words: err.Error()})
	}
	k.github = askOnce(hub, k.Routes)
	reached := false
	probes = append(probes, probe{"github", func(ctx context.Context, r *findings) { reached = k.account(ctx, r) }})
	found := runProbes(ctx, probes)
	if !reached {
		return append(found, Finding{Level: LevelWarn, Place: "github", Words: "no repository was looked at"})
	}
	return append(found, runProbes(ctx, k.repositories())...)
}

// plannings lists a place for each planning project.
func (k *checker) plannings() (probes []probe) {
	for _, name := range slices.Sorted(maps.Keys(k.Projects)) {
		probes = append(probes, probe{"planning " + name, func(ctx context.Context, r *findings) { k.project(ctx, r, name) }})
	}
	return probes
}
