package importer

import (
	"context"
	"fmt"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

// A dry run reports the differences between the items of a pair that would be joined, and
// whose value would win. The core decides the same way when the pair is joined: it has no
// base. Values that need a history, such as the time of an edit, are not read.

// differences reads the card of a pair that would be joined, and compares it with the issue.
func (im *run) differences(ctx context.Context, route *mapping.Route, issue *mapping.Issue, id mapping.CardID) ([]status.ImportDifference, error) {
	side := im.Inventory.Project(route.Project)
	if side == nil {
		return nil, nil
	}
	card, err := side.Card(ctx, id.ID)
	if err != nil {
		return nil, fmt.Errorf("read card %s: %w", id.ID, err)
	}
	set := im.Inventory.Settings()
	keys := set.Keys.In(route.Project)
	github, _ := route.IssueView(issue, set.Scheme, keys, nil)
	planning := mapping.CardView(&card, keys)
	github.Untrack()
	link := route.JoinIssue(issue, id, im.Clock.Now().UTC())
	var out []status.ImportDifference
	for _, d := range mapping.Resolve(mapping.Input{Link: link, Route: route, GitHub: github, Planning: planning}).Decisions {
		if d.Action == mapping.Adopt {
			continue
		}
		out = append(out, status.ImportDifference{
			Attribute: string(d.Attribute), GitHub: github[d.Attribute].Value, Planning: planning[d.Attribute].Value,
			Wins: wins(&d), Why: d.Why,
		})
	}
	return out, nil
}

// wins is the side whose value wins, or what happens to both.
func wins(d *mapping.Decision) string {
	switch {
	case d.Winner != "":
		return string(d.Winner)
	case d.Action == mapping.ToPlan:
		return string(mapping.GitHub)
	case d.Action == mapping.ToHub:
		return string(mapping.Planning)
	case d.Action == mapping.MergeBoth:
		return "both"
	}
	return string(d.Action)
}
