package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"planbridge/bridge/poll/seen"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// The reasons for which a card has no issue.
const (
	whyMarked      = "it carries a marker of planbridge: the next poll finds its link"
	whyForeign     = "its footer is of a bridge with another marker key, which has its issue"
	whyPlaceholder = "it holds the tasks that belong to no card"
	whyNoBucket    = "it is in no bucket of its project's backlog: cards enter from their bucket"
	whyOneWay      = "its route only goes to planning"
	whyNoCreating  = "its route makes no issues of new cards (create_issues)"
	whyNowhere     = "its route names no repository for new cards (new_cards_in)"
	whyUnread      = "planbridge has not polled its bucket yet: the first poll only records what is there, and planbridge import takes it then"
	whyOldCard     = "it was there before planbridge polled its bucket first, or while its route refused it: planbridge import takes it"
)

// outsideCard finds a card that no link knows, by its id or its number.
func (e *Explainer) outsideCard(ctx context.Context, item status.Item) (*status.Outside, error) {
	var found []*status.Outside
	for _, project := range e.set().Routes.Projects() {
		out, err := e.outsideCardIn(ctx, project, item)
		if err != nil {
			return nil, err
		}
		if out != nil {
			found = append(found, out)
		}
	}
	switch len(found) {
	case 0:
		return nil, store.ErrNotFound
	case 1:
		return found[0], nil
	}
	var names []string
	for _, out := range found {
		names = append(names, out.Called())
	}
	return nil, status.Ambiguous(item.Name, names...)
}

// errSeen ends the visits of a backlog.
var errSeen = errors.New("seen")

// outsideCardIn finds a card in one project; nil: it has none. Only the backlog has a card's
// bucket. It is walked for a number, or where the project has a card with that id.
func (e *Explainer) outsideCardIn(ctx context.Context, project mapping.ObjectID, item status.Item) (*status.Outside, error) {
	side, done, err := e.o.Services.Planning(project)
	if err != nil {
		return nil, err
	}
	defer done()
	numbered := item.CID != 0
	var card *mapping.Card
	if !numbered {
		read, err := side.Card(ctx, mapping.ObjectID(item.Name))
		if mapping.Refused(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		read.Bucket, read.BucketName = "", ""
		card = &read
	}
	err = side.BacklogEach(ctx, func(bucket mapping.ObjectID, title string, c mapping.Card) error {
		if numbered && c.CID != item.CID || !numbered && string(c.ID) != item.Name {
			return nil
		}
		found := c // only this one moves to the heap
		found.Bucket, found.BucketName = bucket, title
		card = &found
		return errSeen
	})
	if err != nil && !errors.Is(err, errSeen) {
		return nil, err
	}
	if card == nil {
		return nil, nil
	}
	switch _, err := e.o.Store.Find(ctx, project, mapping.CardRef(card.ID)); {
	case err == nil:
		return nil, nil
	case !errors.Is(err, store.ErrNotFound):
		return nil, fmt.Errorf("%w: %w", errStore, err)
	}
	route, why, err := e.whyCard(ctx, project, card)
	if err != nil {
		return nil, err
	}
	out := &status.Outside{Project: e.set().Routes.ProjectName(project), Title: card.Title.Value, Why: why}
	out.Card = &status.Card{ID: string(card.ID), CID: card.CID, Bucket: card.BucketName, Version: card.Version, BucketID: string(card.Bucket)}
	if route != nil {
		out.Route = route.Name
	}
	return out, nil
}

// whyCard says why a card has no issue, and which route has its bucket.
func (e *Explainer) whyCard(ctx context.Context, project mapping.ObjectID, card *mapping.Card) (*mapping.Route, string, error) {
	set := e.set()
	keys := set.Keys.In(project)
	_, marks := keys.Body(card.Summary.Value)
	owner := func(r *mapping.Route) bool {
		return r.Project == project && r.OwnsBucket(card.BucketName, card.Bucket, card.StateID)
	}
	var route *mapping.Route
	if i := slices.IndexFunc(e.set().Routes.All(), owner); i >= 0 {
		route = e.set().Routes.All()[i]
	}
	maker := set.Routes.ForBucket(project, card.BucketName, card.Bucket, card.StateID)
	switch {
	case slices.ContainsFunc(marks, func(m mapping.Marker) bool { return m.Kind == mapping.MarkCard }):
		return route, whyMarked, nil
	case keys.Foreign(card.Summary.Value):
		return route, whyForeign, nil
	case card.Placeholder:
		return route, whyPlaceholder, nil
	case card.Bucket == "":
		return nil, whyNoBucket, nil
	case route == nil:
		return nil, "no route takes the cards of bucket " + card.BucketName, nil
	case maker != nil:
		why, err := e.whyMaker(ctx, maker, card)
		return maker, why, err
	case route.Direction == mapping.ToPlanning:
		return route, whyOneWay, nil
	case !route.CreateIssues:
		return route, whyNoCreating, nil
	}
	return route, whyNowhere, nil
}

// whyMaker says why a card has no issue though a route makes issues of its bucket's cards.
func (e *Explainer) whyMaker(ctx context.Context, route *mapping.Route, card *mapping.Card) (string, error) {
	if !route.AllowPublic {
		hub, done, err := e.o.Services.GitHub()
		if err != nil {
			return "", err
		}
		private, err := hub.Private(ctx, route.NewCardsIn)
		done()
		if err != nil {
			return "", fmt.Errorf("ask whether %s is public: %w", route.NewCardsIn, err)
		}
		if !private {
			return mapping.WhyPublic, nil
		}
	}
	known, err := e.o.Store.Marks(ctx, route.Project, store.MarksCards)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(known, func(m store.Mark) bool { return m.ID == string(card.ID) })
	if at >= 0 && seen.HasEntered(known[at].Text, route) {
		return whyOldCard, nil
	}
	var baseline seen.Baseline
	if _, err := store.ReadJSON(ctx, e.o.Store, route.Project, seen.DocBaseline, &baseline); err != nil {
		return "", fmt.Errorf("%w: %w", errStore, err)
	}
	if !baseline.Has(route, seen.Bucket{ID: card.Bucket, Title: card.BucketName}) {
		return whyUnread, nil
	}
	return e.whyNotYet(ctx, route, "the next poll lets it in by route "+route.Name)
}
