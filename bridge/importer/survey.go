package importer

import (
	"context"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

// survey counts the work, and with match searches for partners. It walks first the titles of the
// cards, then the issues with such a title, before anything is made.
func (im *run) survey(ctx context.Context) error {
	im.kin = newKinship()
	defer func() { im.counted, im.kin, im.marked = nil, nil, marked{} }()
	if err := im.findMarked(ctx); err != nil {
		return err
	}
	if im.ask.Match != "" {
		im.counted = map[uint64]bool{}
		im.job.Doing("looking for partners among the cards")
		if err := im.cardTitles(ctx); err != nil {
			return err
		}
		im.job.Doing("looking for partners among the issues")
		if err := im.issueTitles(ctx); err != nil {
			return err
		}
	}
	im.counted = map[uint64]bool{}
	im.job.Doing("counting")
	if err := im.eachIssue(ctx, im.countIssue, nil); err != nil {
		return err
	}
	if err := im.countChildren(ctx); err != nil {
		return err
	}
	if err := im.eachCard(ctx, im.countCard); err != nil {
		return err
	}
	im.job.Update(func(now *status.Job) {
		r := now.Import
		now.Total = r.Cards + r.Issues + r.Joined + r.UnderWay
		forecast, bound := im.Budget.Forecast(r.Issues, r.Labels)
		r.Forecast, r.Bound = forecast.Seconds(), bound
	})
	return nil
}

// countIssue counts an issue.
func (im *run) countIssue(ctx context.Context, route *mapping.Route, issue *mapping.Issue) error {
	item := status.ImportItem{Where: issue.Name(), Title: issue.Title, Route: route.Name}
	switch t := im.titleOf(route, issue.Title); {
	case t.unique():
		item.What, item.Partner = "join", string(t.card.ID)
		im.kin.getsCard(issue, route)
		im.count(func(r *status.ImportResult) { r.Joined++; r.Labels += labelWrites(route, false) })
		if im.ask.DryRun {
			var err error
			if item.Differs, err = im.differences(ctx, route, issue, t.card); err != nil {
				return err
			}
		}
	case t != nil:
		item.What, item.Why = "ambiguous", t.why()
		im.count(func(r *status.ImportResult) { r.Ambiguous++ })
		im.list(item)
		return nil
	case route.Direction == mapping.ToGitHub:
		im.count(func(r *status.ImportResult) { r.StaysOut("its route only goes to GitHub") })
		return nil
	case isChild(issue):
		im.kin.add(issue, route, item)
		return nil
	default:
		im.kin.getsCard(issue, route)
		item.What = "card"
		im.count(func(r *status.ImportResult) { r.Cards++; r.Labels += labelWrites(route, false) })
	}
	if im.ask.DryRun {
		im.list(item)
	}
	return nil
}

func (im *run) countCard(_ context.Context, route *mapping.Route, card *mapping.Card) error {
	if !im.makesIssue(route, card) {
		if im.isWithheld(route) {
			im.count(func(r *status.ImportResult) { r.StaysOut(mapping.WhyPublic) })
		}
		return nil
	}
	im.count(func(r *status.ImportResult) { r.Issues++; r.Labels += labelWrites(route, true) })
	if im.ask.DryRun {
		im.list(status.ImportItem{Where: string(card.ID), Title: card.Title.Value, Route: route.Name, What: "issue"})
	}
	return nil
}

// makesIssue reports whether a card that no link has becomes an issue.
func (im *run) makesIssue(route *mapping.Route, card *mapping.Card) bool {
	return route.MakesIssues() && !im.isWithheld(route) && !im.titleOf(route, card.Title.Value).matched()
}

// isWithheld reports whether the issues of a route's cards would show planning's texts to
// anybody. The issues of that repository stay out as well, so that no partner is looked for.
func (im *run) isWithheld(route *mapping.Route) bool {
	return route.MakesIssues() && !route.AllowPublic && im.public[strings.ToLower(route.NewCardsIn)]
}

// labelWrites is how many writes project a card onto its issue: its bucket, and the status
// that its tracking task gives it. A new issue has its bucket from the beginning.
func labelWrites(route *mapping.Route, made bool) int {
	if !route.Writes(mapping.GitHub) || made && !route.TrackingTask {
		return 0
	}
	return 1
}

func isChild(issue *mapping.Issue) bool {
	return issue.Parent != "" && issue.Parent != mapping.NoParent
}
