package bridge

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Operator is what commands and the admin listener can ask of planbridge's
// memory. It works on the store alone, so that a command can use it where no
// service runs.
type Operator struct {
	store store.Store
	set   func() *settings
	kick  func()
}

var _ status.Operator = (*Operator)(nil)

// Operator returns the operator's door to the running App.
func (a *App) Operator() *Operator {
	return &Operator{store: a.store, set: a.set.Load, kick: a.reconcile.Kick}
}

// Projects lists the configured projects by the operator's names.
func (o *Operator) projects() map[mapping.ObjectID]string {
	out := map[mapping.ObjectID]string{}
	for _, r := range o.set().Routes.All() {
		out[r.Project] = r.ProjectName
	}
	return out
}

// Links visits the links of a route ("": of all), in the store's order.
func (o *Operator) Links(ctx context.Context, route string, visit func(*mapping.Link) error) error {
	for project := range o.projects() {
		for cursor := ""; ; {
			links, next, err := o.store.List(ctx, project, cursor, linksPage)
			if err != nil {
				return fmt.Errorf("list links: %w", err)
			}
			for _, l := range links {
				if route != "" && l.Route != route {
					continue
				}
				if err := visit(l); err != nil {
					return err
				}
			}
			if cursor = next; cursor == "" {
				break
			}
		}
	}
	return nil
}

// maxFailures bounds how many failures of a project are shown.
const maxFailures = 10_000

// Failures lists the parked keys, oldest first.
func (o *Operator) Failures(ctx context.Context) ([]store.Failure, error) {
	var out []store.Failure
	for project := range o.projects() {
		fs, err := o.store.Failures(ctx, project, maxFailures)
		if err != nil {
			return nil, fmt.Errorf("list failures: %w", err)
		}
		out = append(out, fs...)
	}
	return out, nil
}

// Retry takes a key up again: one named as failures shows it (project/link),
// as an issue (acme/web#12), or "all". It returns how many.
func (o *Operator) Retry(ctx context.Context, name string) (int, error) {
	failures, err := o.Failures(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, f := range failures {
		if name != "all" && name != f.Key.String() && name != string(f.Key.Link) && name != f.Where {
			continue
		}
		if err := o.store.Enqueue(ctx, f.Key, 0, false); err != nil {
			return n, fmt.Errorf("retry %s: %w", f.Where, err)
		}
		n++
	}
	if n == 0 && name != "all" {
		return 0, fmt.Errorf("failure %s: %w", name, store.ErrNotFound)
	}
	o.kick()
	return n, nil
}

// Conflicts lists the newest entries of the conflict ledger.
func (o *Operator) Conflicts(ctx context.Context, limit int) ([]mapping.Conflict, error) {
	var out []mapping.Conflict
	for project := range o.projects() {
		cs, _, err := o.store.Conflicts(ctx, project, "", limit)
		if err != nil {
			return nil, fmt.Errorf("list conflicts: %w", err)
		}
		out = append(out, cs...)
	}
	return out, nil
}

// Find returns the link of an issue (acme/web#12), a card's or a link's id.
func (o *Operator) Find(ctx context.Context, name string) (*mapping.Link, error) {
	repo, num, isIssue := strings.Cut(name, "#")
	number, err := strconv.Atoi(num)
	if isIssue && err != nil {
		return nil, fmt.Errorf("find %s: expected owner/name#number, a card's id or a link's id", name)
	}
	var found *mapping.Link
	err = o.Links(ctx, "", func(l *mapping.Link) error {
		switch {
		case isIssue && strings.EqualFold(l.Issue.Repo, repo) && l.Issue.Number == number,
			!isIssue && (string(l.ID) == name || string(l.Card.ID) == name):
			found = l
		}
		return nil
	})
	if err == nil && found == nil {
		err = fmt.Errorf("link of %s: %w", name, store.ErrNotFound)
	}
	return found, err
}

// History returns what was done to a link, newest first.
func (o *Operator) History(ctx context.Context, l *mapping.Link, limit int) ([]mapping.Entry, error) {
	return o.store.History(ctx, store.Key{Project: l.Project, Link: l.ID}, limit)
}

// Overview describes every project's queue, by the operator's names.
func (o *Operator) Overview(ctx context.Context) (map[string]store.Depth, error) {
	out := map[string]store.Depth{}
	for project, name := range o.projects() {
		d, err := o.store.Depth(ctx, project)
		if err != nil {
			return nil, fmt.Errorf("queue of project %s: %w", name, err)
		}
		out[name] = d
	}
	return out, nil
}
