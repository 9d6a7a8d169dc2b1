package importer

import (
	"context"
	"strconv"

	"planbridge/bridge/inventory"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// A store that is new or was lost knows no link, while the items carry their markers. These
// pairs are linked again before anything is created, so that a survey does not count their
// items as work.

// marked are the items that a marker names or is on, where the store may not know their links.
type marked struct {
	issues map[int64]bool
	cards  map[mapping.ObjectID]bool
}

// findMarked finds the pairs that are linked again by their markers, and counts them. Where the
// store has seen everything marked, it reads nothing.
func (im *run) findMarked(ctx context.Context) error {
	if adopted, err := im.adopted(ctx); adopted || err != nil {
		return err
	}
	im.job.Doing("looking for markers")
	im.marked = marked{map[int64]bool{}, map[mapping.ObjectID]bool{}}
	keys, cards := im.Inventory.Settings().Keys, 0
	err := im.Inventory.EachProject(im.routes, func(project mapping.ObjectID, side inventory.Planning) error {
		return side.EachCard(ctx, func(card mapping.Card) error {
			cards++
			_, marks := keys.In(project).Body(card.Summary.Value)
			for _, m := range marks {
				if issue, err := strconv.ParseInt(m.Partner, 10, 64); err == nil && m.Kind == mapping.MarkCard {
					im.marked.issues[issue] = true
				}
			}
			return nil
		})
	})
	if err != nil || cards == 0 { // a pair has a card
		return err
	}
	walk := &issueWalk{run: im, visit: im.findPair(map[int64]bool{})}
	return im.Inventory.Issues(ctx, im.routes, mapping.ImportAll, markWalk{walk})
}

// adopted reports whether the store has seen everything marked in the projects of the routes.
func (im *run) adopted(ctx context.Context) (bool, error) {
	for _, r := range im.routes {
		doc, err := store.ReadDoc(ctx, im.Store, r.Project, store.DocAdopted)
		if err != nil || string(doc) != im.epoch {
			return false, err
		}
	}
	return true, nil
}

// markWalk walks issues of any state, also those that an import leaves out.
type markWalk struct{ *issueWalk }

// VisitIssue implements [inventory.IssueVisitor].
func (w markWalk) VisitIssue(ctx context.Context, issue *mapping.Issue) error {
	set := w.Inventory.Settings()
	route, _ := set.Routes.ForIssue(issue, set.Scheme)
	if route == nil || !w.includes(route) {
		return nil
	}
	return w.guarded(issue.Name(), func() error { return w.visit(ctx, route, issue) })
}

// findPair returns a visit that counts an issue with a partner by a marker. The marker is the
// issue's own, where the bridge made the issue, or that of its card.
func (im *run) findPair(before map[int64]bool) issueVisit {
	return func(ctx context.Context, route *mapping.Route, issue *mapping.Issue) error {
		keys := im.Inventory.Settings().Keys.In(route.Project)
		root := im.marked.issues[issue.ID]
		if keys.Made(issue, im.GitHub.Authorship(issue.Author)) {
			_, marks := keys.Body(issue.Body)
			for _, m := range marks {
				im.marked.issues[issue.ID] = true
				if m.Kind == mapping.MarkIssue {
					root, im.marked.cards[mapping.ObjectID(m.Partner)] = true, true
				}
			}
		}
		if !root || before[issue.ID] {
			return nil
		}
		before[issue.ID] = true
		if _, known, err := im.Inventory.Known(ctx, mapping.IssueRef(issue.ID)); known || err != nil {
			return err
		}
		im.kin.getsCard(issue, route)
		im.count(func(r *status.ImportResult) { r.Found++ })
		if im.ask.DryRun {
			im.list(status.ImportItem{Where: issue.Name(), Title: issue.Title, Route: route.Name, What: "found", Why: "it is linked again by its marker"})
		}
		return nil
	}
}
