package archive

import (
	"context"
	"fmt"
	"slices"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Export implements [status.Operator]. It visits the store's content, also that of projects and
// routes that are no longer configured. Unreadable content is an error, once all else was visited.
func (a *Archive) Export(ctx context.Context, ask status.ExportAsk, visit func(row any) error) error {
	if err := a.keeps("export"); err != nil {
		return err
	}
	e := &exporter{Archive: a, ask: ask, visit: visit, project: slices.ContainsFunc(a.set().Routes.Projects(), a.named(ask.Project)), route: ask.Route == "" || a.set().Routes.ByName(ask.Route) != nil}
	err := a.o.Store.Dump(ctx, func(entry store.Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return e.entry(&entry)
	})
	switch {
	case err != nil:
	case ask.Project != "" && !e.project:
		err = fmt.Errorf("project %s: %w", ask.Project, store.ErrNotFound)
	case !e.route:
		err = fmt.Errorf("route %s: %w", ask.Route, store.ErrNotFound)
	case e.spoilt > 0:
		err = fmt.Errorf("%s cannot be read, the first is %s", mapping.Count(e.spoilt, "stored entry", "stored entries"), e.first)
	}
	if err != nil {
		return fmt.Errorf("export %s: %w", ask.What, err)
	}
	return nil
}

// named selects the projects that a name or an id means; "" means all.
func (a *Archive) named(name string) func(mapping.ObjectID) bool {
	return func(p mapping.ObjectID) bool {
		return p != "" && (name == "" || name == string(p) || name == a.set().Routes.ProjectName(p))
	}
}

// exporter makes the rows of one export.
type exporter struct {
	*Archive
	ask     status.ExportAsk
	visit   func(row any) error
	project bool   // the project is configured, or has content
	route   bool   // the route is
	spoilt  int    // entries that cannot be read
	first   string // of these
}

// wants reports whether the export includes a route.
func (e *exporter) wants(route string) bool {
	if e.ask.Route != "" && e.ask.Route != route {
		return false
	}
	e.route = true
	return true
}

// entry exports the requested part of a store's entry.
func (e *exporter) entry(entry *store.Entry) error {
	if !e.named(e.ask.Project)(entry.Project) {
		return nil
	}
	e.project = true
	switch record, conflict := entry.Record, entry.Conflict; {
	case entry.Spoilt != "":
		if e.spoilt++; e.spoilt == 1 {
			e.first = entry.Spoilt
		}
	case conflict != nil && e.ask.What == status.ExportConflicts && e.wants(conflict.Route):
		return e.visit(e.conflictRow(conflict))
	case record != nil && e.ask.What == status.ExportLinks && e.wants(record.Link.Route):
		return e.links(record.Link)
	case record != nil && e.ask.What == status.ExportHistory && e.wants(record.Link.Route):
		return e.history(record)
	}
	return nil
}

// links exports a link: a row for each of its pairs. A link of an unnamed project is dormant.
func (e *exporter) links(l *mapping.Link) error {
	if !e.set().Routes.Names(l.Project) {
		l.WithoutProject()
	}
	for _, p := range l.All() {
		row := status.ExportedLink{
			Project: e.set().Routes.ProjectName(l.Project), Route: l.Route, Link: string(l.ID), Kind: status.KindOf(p), State: string(p.State),
			Repository: p.Issue.Repo, Number: p.Issue.Number, IssueID: p.Issue.ID, Card: string(l.Card.ID),
			Bucket: l.Card.BucketTitle(), Origin: string(p.Origin),
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

// history exports the history of a link, newest first.
func (e *exporter) history(r *store.Record) error {
	l := r.Link
	for _, h := range slices.Backward(r.History) {
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
