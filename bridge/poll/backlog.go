package poll

import (
	"context"
	"fmt"

	"planbridge/mapping"
)

// readBacklog takes in the cards of all buckets as they stream by.
func (r *round) readBacklog(ctx context.Context) error {
	var hash uint64 // of the text of the card that is visited next
	known := func(bucket mapping.ObjectID, title string, raw []byte) bool {
		r.buckets[bucket] = title
		hash = r.cards.hashRaw(bucket, title, raw)
		return r.unchangedRaw(ctx, bucketName{bucket, title}, hash)
	}
	r.calls++
	err := r.o.Planning.BacklogNews(ctx, known, func(bucket mapping.ObjectID, title string, card mapping.Card) error {
		raw := hash
		hash = 0 // a card that was held until its bucket was named is not shown to known
		r.buckets[bucket] = title
		if k := r.cards.items[card.ID]; k != nil {
			k.markSeen(r, backlogListing) // also where the rest of it panics
		}
		return r.guarded("card", card.ID, func() error { return r.listedCard(ctx, bucket, title, card, raw) })
	})
	if err != nil {
		return fmt.Errorf("list backlog: %w", err)
	}
	return nil
}

// listedCard takes in a card of the backlog, whose text hashes to raw.
func (r *round) listedCard(ctx context.Context, bucket mapping.ObjectID, title string, card mapping.Card, raw uint64) error {
	if s := r.sprintCards[card.ID]; s != nil {
		delete(r.sprintCards, card.ID)
		return r.mergeSightings(ctx, bucket, title, card, s.card)
	}
	if r.unchanged(ctx, &card, backlogListing) {
		if !card.Placeholder {
			r.cards.rememberRaw(raw, card.ID)
		}
		return nil
	}
	c := card // only what changed moves to the heap
	return r.card(ctx, &c, backlogListing)
}

// unchangedRaw reports whether a card's text hashes as it did when the card was found
// unchanged, and notes that it was seen. Such a card is not even decoded.
func (r *round) unchangedRaw(ctx context.Context, bucket bucketName, raw uint64) bool {
	t, ok := r.cards.byRaw[raw]
	if !ok || t.entry.raw != raw || r.adopting || t.entry.gone || r.sprintCards[t.id] != nil {
		return false
	}
	h := r.bucketRole(ctx, &mapping.Card{Bucket: bucket.id, BucketName: bucket.title})
	if h.route != nil && !t.entry.entered(h.route.Name) {
		return false
	}
	t.entry.markSeen(r, backlogListing)
	t.entry.confirmed = r.began.UnixNano()
	return true
}

// mergeSightings takes in a card that the backlog and a sprint show: the newer sight
// counts, and the bucket is that of the backlog.
func (r *round) mergeSightings(ctx context.Context, bucket mapping.ObjectID, title string, backlog, sprint mapping.Card) error {
	c := join(backlog, sprint)
	if sprint.Version > backlog.Version {
		c = join(sprint, backlog)
		c.Bucket, c.BucketName = bucket, title
	}
	return r.card(ctx, &c, backlogListing)
}
