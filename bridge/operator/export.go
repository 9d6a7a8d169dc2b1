package operator

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Export implements [status.Operator]: it visits what the store holds of a project after
// the other, those that are configured no longer included, and keeps a page in memory.
func (o *Operator) Export(ctx context.Context, ask status.ExportAsk, visit func(row any) error) error {
	projects, err := o.toExport(ctx, ask.Project)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	e := &exporter{Operator: o, ask: ask, visit: visit, known: o.knowsRoute(ask.Route)}
	for _, project := range projects {
		if err := e.project(ctx, project); err != nil {
			return fmt.Errorf("export %s: %w", ask.What, err)
		}
	}
	if !e.known {
		return fmt.Errorf("route %s: %w", ask.Route, store.ErrNotFound)
	}
	return nil
}

// toExport lists the projects that a name or an id means; "" means all of the store.
func (o *Operator) toExport(ctx context.Context, name string) ([]mapping.ObjectID, error) {
	all, err := o.store.Projects(ctx)
	if err != nil {
		return nil, err
	}
	for _, project := range o.projects() {
		if !slices.Contains(all, project) {
			all = append(all, project)
		}
	}
	all = slices.DeleteFunc(all, func(p mapping.ObjectID) bool {
		return p == "" || name != "" && name != string(p) && name != o.set().Routes.ProjectName(p)
	})
	if name != "" && len(all) == 0 {
		return nil, fmt.Errorf("project %s: %w", name, store.ErrNotFound)
	}
	return all, nil
}

// exporter makes the rows of one export.
type exporter struct {
	*Operator
	ask   status.ExportAsk
	visit func(row any) error
	known bool // the route is configured, or something is of it
}

// wants reports whether something of a route is asked for.
func (e *exporter) wants(route string) bool {
	if e.ask.Route != "" && e.ask.Route != route {
		return false
	}
	e.known = true
	return true
}

func (e *exporter) project(ctx context.Context, project mapping.ObjectID) error {
	if e.ask.What == status.ExportConflicts {
		return e.conflicts(ctx, project)
	}
	rows := e.link
	if e.ask.What == status.ExportHistory {
		rows = e.history
	}
	for l, err := range store.AllLinks(ctx, e.store, project) {
		if err != nil {
			return err
		}
		if !e.wants(l.Route) {
			continue
		}
		if err := rows(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// link exports a link: a row for each of its pairs.
func (e *exporter) link(_ context.Context, l *mapping.Link) error {
	for _, p := range l.All() {
		row := status.ExportedLink{
			Project: e.set().Routes.ProjectName(l.Project), Route: l.Route, Link: string(l.ID), Kind: status.KindOf(p), State: string(p.State),
			Repository: p.Issue.Repo, Number: p.Issue.Number, IssueID: p.Issue.ID, Card: string(l.Card.ID),
			Bucket: cmp.Or(l.Card.BucketName, string(l.Card.Bucket)), Origin: string(p.Origin),
			Created: p.Created, Synced: p.Synced, Why: p.Why,
		}
		if p.IsTask() {
			row.Task, row.Line = string(p.Card.ID), p.Item
		}
		row.CardNumber = l.Card.CID
		if err := e.visit(row); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) history(ctx context.Context, l *mapping.Link) error {
	entries, err := e.History(ctx, l, mapping.MaxHistory)
	if err != nil {
		return err
	}
	for _, h := range entries {
		err := e.visit(status.ExportedEntry{
			Project: e.set().Routes.ProjectName(l.Project), Route: l.Route, Link: string(l.ID), Where: l.Where(), At: h.At, What: h.What,
			Attribute: string(h.Attribute), Side: string(h.Side), Part: h.Part, Who: h.Who, Took: h.Took, Why: h.Why, Delivery: h.Delivery,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) conflicts(ctx context.Context, project mapping.ObjectID) error {
	for cursor := ""; ; {
		page, next, err := e.store.Conflicts(ctx, project, cursor, ledgerPage)
		if err != nil {
			return err
		}
		for i := range page {
			if !e.wants(page[i].Route) {
				continue
			}
			if err := e.visit(e.conflictRow(&page[i])); err != nil {
				return err
			}
		}
		if cursor = next; cursor == "" {
			return nil
		}
	}
}

func (e *exporter) conflictRow(c *mapping.Conflict) status.ExportedConflict {
	row := status.ExportedConflict{
		Project: e.set().Routes.ProjectName(c.Project), Route: c.Route, Link: string(c.Link), Where: c.Where, ID: c.ID,
		Attribute: string(c.Attribute), State: c.State, At: c.At, Settled: c.Settled, Winner: string(c.Winner), Rule: c.Rule,
		GitHub: c.GitHub, Planning: c.Planning,
	}
	if c.Base != nil {
		row.BaseGitHub, row.BasePlanning = c.Base.GitHub, c.Base.Planning
	}
	return row
}
