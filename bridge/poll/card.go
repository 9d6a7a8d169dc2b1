package poll

import (
	"context"
	"slices"

	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
	"planbridge/store"
)

// unchanged reports whether a card needs no work, and records that it was seen. It neither
// allocates nor asks the store.
func (r *round) unchanged(ctx context.Context, c *mapping.Card, listing mapping.ObjectID) bool {
	if c.Placeholder {
		return true // a placeholder holds tasks of no card, and is no issue's partner
	}
	k := r.cards.Items[c.ID]
	if k == nil {
		return false
	}
	r.markSeen(k, listing)
	seen.RecallUsers(c, k)
	h := r.roleOf(ctx, c)
	if k.Quick != r.cards.QuickCard(c) {
		return false
	}
	k.Confirmed = r.began.UnixNano()
	return r.isStored(k, h)
}

// markSeen records that the round saw a card.
func (r *round) markSeen(k *seen.Entry, listing mapping.ObjectID) {
	k.Listing = listing
	if listing == backlogListing {
		k.Reading = r.backlog.reading
	}
	if k.Round != r.rounds {
		k.Round, k.Seen = r.rounds, r.began.UnixNano()
	}
}

// isStored reports whether an item that equals its cache entry needs no work.
func (r *round) isStored(k *seen.Entry, h bucketRole) bool {
	return !r.adopting && !k.Gone && k.Digest != "" && (h.route == nil || k.Entered(h.route.Identity()))
}

// card handles a card.
func (r *round) card(ctx context.Context, c *mapping.Card, listing mapping.ObjectID) error {
	if r.unchanged(ctx, c, listing) {
		return nil
	}
	old, h := r.cards.Items[c.ID], r.roleOf(ctx, c)
	if r.light && old != nil && c.Version <= old.Version {
		r.deferred = true
		return nil // a full round, which reads all listings of the card, judges it
	}
	k := seen.Entry{Confirmed: r.lastCompleteNano()}
	if old != nil {
		k = *old
	} else {
		r.markSeen(&k, listing)
	}
	polled := k.Polled(r.clock.Now())
	times := k.TakeVersions(c, old == nil, polled)
	k.Confirmed = r.began.UnixNano()
	back := c.Version < k.Version
	k.Version = c.Version
	k.Digest, k.Quick, k.Gone, k.Users = mapping.DigestCard(seen.WithoutTasks(c)), r.cards.QuickCard(c), false, c.Users
	r.cards.CompleteBucket(c, &k)
	k.Text = r.text
	same := old != nil && old.Digest == k.Digest && !old.Gone
	fresh := h.route != nil && !k.Entered(h.route.Identity())
	if fresh {
		k.Routes = append(slices.Clip(k.Routes), h.route.Identity())
	}
	obs := store.Observation{
		Refs: []mapping.Ref{mapping.CardRef(c.ID)}, Item: mapping.CardRef(c.ID),
		At: c.Version, Digest: k.Digest, Bulk: r.adopting,
	}
	if back {
		obs.Event = backEvent
	}
	k.Held = same && r.adopting && r.restarted
	marked := r.followMarker(&obs, c)
	r.report.lost = r.report.lost || r.adopting && marked
	it := item{cache: r.cards, id: c.ID}
	enters := fresh && h.enters && !marked && !r.isForeign(c)
	switch {
	case enters:
		obs.Create = h.route.EnterCard(c, r.clock.Now().UTC())
		k.Made = true
	case fresh && !h.enters && !marked && !r.keys.Foreign(c.Summary.Value):
		it.left, it.cid = h.route.Name, c.CID
	}
	it.entry = k
	if !enters && (k.Held || same && !(r.adopting && marked) && !r.observeAll) {
		return r.add(ctx, it) // known from an earlier process, or newly recorded: it has no news
	}
	if !r.adopting && (old == nil || old.Digest != "") { // otherwise it is only observed again
		r.pace.edited(listing, r.began)
		r.touched(c.ID)
	}
	c.Polled, c.Times = polled, times
	obs.Data = store.Encode(c)
	it.obs = &obs
	return r.add(ctx, it)
}

// lastCompleteNano is when the last round began that would have shown a card which is new now.
func (r *round) lastCompleteNano() int64 {
	if r.lastComplete.IsZero() {
		return 0
	}
	return r.lastComplete.UnixNano()
}

// followMarker proposes the link that a card's marker names. The answer to its creation may
// not have come yet, or the store may have lost the link, which is then rebuilt. It reports
// whether the card has a marker of ours, so that it counts as no new card. Of several cards
// with one marker, the reconcile finds the true one.
func (r *round) followMarker(obs *store.Observation, c *mapping.Card) bool {
	_, marks := r.keys.Body(c.Summary.Value)
	for _, m := range marks {
		if m.Kind != mapping.MarkCard {
			continue
		}
		obs.Link = m.Link
		repo, number := r.keys.FooterIssue(c.Summary.Value, m)
		if route := r.markerRoute(c, repo); route != nil {
			obs.Create = route.RebuildFromCard(c, m, repo, number, r.clock.Now().UTC())
		}
		if obs.Create != nil {
			obs.Refs = append(obs.Refs, mapping.IssueRef(obs.Create.Issue.ID))
		}
		return true
	}
	return false
}

// isForeign reports, and logs, that a card belongs to a bridge with other keys, and so has its
// issue already. Two bridges on one bucket would otherwise make partners for each other's cards. A
// forged footer only keeps its own card from getting an issue. It is called once for each new card.
func (r *round) isForeign(c *mapping.Card) bool {
	if !r.keys.Foreign(c.Summary.Value) {
		return false
	}
	r.o.Logger.Warn("no issue is made of a card: its footer is of a bridge with another marker key", "card", c.ID, "title", c.Title.Value)
	return true
}

// markerRoute chooses the route of a rebuilt link: of the routes for its repository, the one
// with the card's bucket, else the first. Where the repository has no route for now, the link
// names none and is dormant. So its issue gets no second card when the route is back.
func (r *round) markerRoute(c *mapping.Card, repo string) *mapping.Route {
	if len(r.routes.ForRepo(repo)) == 0 {
		return &mapping.Route{Project: r.o.Project}
	}
	all := r.routes.Rebuilding(repo, r.o.Project)
	if len(all) == 0 {
		return nil
	}
	own := slices.IndexFunc(all, func(route *mapping.Route) bool { return route.OwnsBucket(c.BucketName, c.Bucket) })
	return all[max(own, 0)]
}
