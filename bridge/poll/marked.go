package poll

import (
	"planbridge/mapping"
	"planbridge/store"
)

// follow proposes the link that a card's marker names: the answer to its
// creation may not have come yet, or the store may have lost the link, which is
// then rebuilt. It reports whether the card carries a marker of ours, which
// makes it no new card whatever becomes of it. Of several cards with one
// marker, which is the true one is for the reconcile to say.
func (r *round) follow(obs *store.Observation, c *mapping.Card) bool {
	_, marks := r.keys.Body(c.Summary.Value)
	for _, m := range marks {
		if m.Kind != mapping.MarkCard {
			continue
		}
		obs.Link = m.Link
		repo, number := r.keys.FooterIssue(c.Summary.Value, m)
		if route := r.routeOf(c, repo); route != nil {
			obs.Create = route.RebuildFromCard(c, m, repo, number, r.o.Now().UTC())
		}
		if obs.Create != nil {
			obs.Refs = append(obs.Refs, mapping.IssueRef(obs.Create.Issue.ID))
		}
		return true
	}
	return false
}

// foreign reports, and says, that a card is of a bridge with other keys: it has
// its issue already. With a second bridge on one bucket each would otherwise
// make partners for the other one's. (Who forges a footer keeps nothing but that
// card from getting an issue.) It is asked once for each card that is new.
func (r *round) foreign(c *mapping.Card) bool {
	if !r.keys.Foreign(c.Summary.Value) {
		return false
	}
	r.o.Logger.Warn("no issue is made of a card: its footer is of a bridge with another marker key", "card", c.ID, "title", c.Title.Value)
	return true
}

// routeOf chooses the route of a link that is rebuilt: of those for its
// repository, the one that owns the card's bucket, else the first.
func (r *round) routeOf(c *mapping.Card, repo string) *mapping.Route {
	var first *mapping.Route
	for _, route := range r.routes.ForRepo(repo) {
		switch {
		case route.Project != r.o.Project:
		case route.OwnsBucket(c.BucketName, c.Bucket):
			return route
		case first == nil:
			first = route
		}
	}
	return first
}
