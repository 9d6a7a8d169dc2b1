package poll

import (
	"context"
	"slices"

	"planbridge/mapping"
	"planbridge/store"
)

// missingShare bounds how many cards that disappeared are looked for in one
// round: this many, or a twentieth of those that were there.
const missingShare = 20

// missingFew is how many cards may disappear in a small project, all of them
// included, before the listing is doubted: each is read before it counts as gone.
const missingFew = 5

// queueMissing makes cards due that a listing no longer shows. A card is
// judged by the listing that showed it last, in rounds that read this listing
// (or find that its sprint is no more). What was last seen by an earlier
// process is not judged until it is seen again; the sweep finds those.
func (r *round) queueMissing(ctx context.Context) error {
	judged, missing := 0, []mapping.ObjectID(nil)
	for id, k := range r.cards.items {
		switch {
		case k.gone:
		case k.round == r.rounds:
			judged++
		case k.listing != "" && r.covers(k.listing):
			judged++
			missing = append(missing, id)
		}
	}
	if len(missing) > missingFew && 2*len(missing) > judged {
		r.o.Logger.Warn("more than half of the cards are missing from the listings: not believed", "missing", len(missing), "of", judged)
		return nil
	}
	slices.Sort(missing)
	for _, id := range missing[:min(len(missing), max(missingShare, judged/20))] {
		k := *r.cards.items[id]
		k.gone = true
		if err := r.add(ctx, item{obs: readCard(id), cache: r.cards, id: id, entry: k}); err != nil {
			return err
		}
	}
	return nil
}

// covers reports whether this round can tell what the listing holds.
func (r *round) covers(listing mapping.ObjectID) bool {
	was, exists := r.sprints[listing]
	return listing == backlogListing || was || !exists
}

// readEvent tells the reconcile to read the card itself.
var readEvent = store.Encode(mapping.IssueEvent{Look: "missing"})

// backEvent tells the reconcile to read an item whose version is lower than it was:
// planning was restored, and snapshots with lower versions are taken for late ones.
var backEvent = store.Encode(mapping.IssueEvent{Look: "went back"})

// readCard makes a card's link due, for the reconcile to read the card itself.
func readCard(card mapping.ObjectID) *store.Observation {
	return &store.Observation{Refs: []mapping.Ref{mapping.CardRef(card)}, Event: readEvent, Bulk: true}
}
