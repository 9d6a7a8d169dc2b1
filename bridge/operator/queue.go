package operator

import (
	"context"
	"fmt"
	"slices"

	"planbridge/bridge/reconcile"
	"planbridge/bridge/services"
	"planbridge/mapping"
	"planbridge/store"
)

// Standing returns the state of a link's key in the queue.
func (o *Operator) Standing(ctx context.Context, l *mapping.Link) (store.Standing, error) {
	at, err := o.o.Store.Standing(ctx, store.Key{Project: l.Project, Link: l.ID})
	if err != nil {
		return at, fmt.Errorf("queue: %w", err)
	}
	return at, nil
}

// Standings lists the keys that are in the queue and not due: first those that wait for a service,
// then the others, latest due first. It lists all keys of an unnamed project, as nobody works them.
func (o *Operator) Standings(ctx context.Context, limit int) ([]store.Standing, error) {
	projects, err := o.Everywhere(ctx)
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	var all []store.Standing
	for _, project := range projects {
		list := o.o.Store.Standings
		if _, named := o.ProjectName(project); !named {
			list = o.o.Store.Queued
		}
		some, err := list(ctx, project, limit)
		if err != nil {
			return nil, fmt.Errorf("queue: %w", err)
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, store.CompareStandings)
	return all[:min(limit, len(all))], nil
}

// ServiceWords names for people the service that a key waits for.
func (o *Operator) ServiceWords(service string) string {
	return services.Words(service, o.set().Routes)
}

// SharedServiceWords names for people several services of one kind that keys wait for, such as
// repositories. It is "" where the service has a kind of its own.
func (o *Operator) SharedServiceWords(service string) string {
	return services.SharedWords(service)
}

// Failing reports whether a key waits for another attempt after a failure.
func (o *Operator) Failing(at *store.Standing) bool { return reconcile.Failing(at) }

// Worker names this process where it works a key; "" where another one does.
func (o *Operator) Worker(key store.Key) string {
	if !o.o.Process.Works(key) {
		return ""
	}
	return o.o.Worker
}

// Overview describes every project's queue, by the operator's names.
func (o *Operator) Overview(ctx context.Context) (map[string]store.Depth, error) {
	out := map[string]store.Depth{}
	for _, project := range o.Projects() {
		name := o.set().Routes.ProjectName(project)
		d, err := o.o.Store.Depth(ctx, project)
		if err != nil {
			return nil, fmt.Errorf("queue of project %s: %w", name, err)
		}
		out[name] = d
	}
	return out, nil
}
