package poll

import (
	"context"
	"slices"

	"planbridge/mapping"
	"planbridge/store"
)

// missingShare bounds how many missing cards one round reads: this many, or a twentieth of the
// cards before.
const missingShare = 20

// missingFew is how many cards may be missing from a small project, even all of them, before
// the listing is doubted. Each of them is read before it counts as gone.
const missingFew = 5

// queueMissing makes cards due that a listing no longer shows. The listing that showed a card
// last decides, in rounds that read it or find that its sprint does not exist any more. A card
// that only an earlier process saw is left to the sweep.
func (r *round) queueMissing(ctx context.Context) error {
	judged, missing := 0, []mapping.ObjectID(nil)
	for id, k := range r.cards.Items {
		switch {
		case k.Gone:
		case k.Round == r.rounds:
			judged++
		case k.Listing != "" && r.covers(k.Listing):
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
		k := *r.cards.Items[id]
		k.Gone = true
		if err := r.add(ctx, item{obs: readCard(id), cache: r.cards, id: id, entry: k}); err != nil {
			return err
		}
	}
	return nil
}

// covers reports whether this round knows the content of the listing.
func (r *round) covers(listing mapping.ObjectID) bool {
	was, exists := r.sprints[listing]
	return listing == backlogListing || was || !exists
}

// readEvent makes the reconcile read the card itself.
var readEvent = store.Encode(mapping.IssueEvent{Look: "missing"})

// backEvent makes the reconcile read an item whose version went down: planning was restored,
// and snapshots with lower versions count as late.
var backEvent = store.Encode(mapping.IssueEvent{Look: "went back"})

// readCard makes a card's link due, so that the reconcile reads the card itself.
func readCard(card mapping.ObjectID) *store.Observation {
	return &store.Observation{Refs: []mapping.Ref{mapping.CardRef(card)}, Event: readEvent, Bulk: true}
}
