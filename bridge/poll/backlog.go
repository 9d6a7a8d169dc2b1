package poll

import (
	"context"
	"fmt"
	"maps"
	"time"

	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
)

// wholeReading is how often the backlog is read as a whole though its tag says that nothing
// changed. It bounds the effect of a service's wrong tag.
const wholeReading = 10 * time.Minute

// readBacklog handles the cards of all buckets as they stream in.
func (r *round) readBacklog(ctx context.Context) error {
	b := &r.Poller.backlog
	was, since := *b, r.unchangedSince(ctx)
	*b = backlog{read: r.began, reading: was.reading + 1, merged: map[mapping.ObjectID]uint64{}}
	r.calls++
	tag, unchanged, err := r.o.Planning.BacklogNews(ctx, since, func(bucket mapping.ObjectID, title string, id, text []byte) bool {
		r.enterBucket(seen.Bucket{ID: bucket, Title: title})
		if r.text = seen.HashText(r.bucket.seed, text); !r.unchangedText(ctx, id) {
			return false
		}
		r.text = 0
		return true
	}, func(bucket mapping.ObjectID, title string, card mapping.Card) error {
		defer func() { r.text = 0 }() // the next card may have been withheld for its bucket's name, without a call of known
		r.enterBucket(seen.Bucket{ID: bucket, Title: title})
		if k := r.cards.Items[card.ID]; k != nil {
			r.markSeen(k, backlogListing) // also where the rest of the handling panics
		}
		return r.guarded("card", card.ID, func() error { return r.listedCard(ctx, bucket, title, card) })
	})
	if err != nil {
		return fmt.Errorf("list backlog: %w", err)
	}
	if r.tag = tag; unchanged {
		*b, r.tag = was, since
		b.tag = "" // until all cards are handled
		r.confirmReading()
	}
	return nil
}

// enterBucket sets the bucket of the next cards.
func (r *round) enterBucket(name seen.Bucket) {
	if r.bucket.seed != 0 && r.bucket.name == name {
		return
	}
	r.buckets[name.ID] = name.Title
	r.bucket = openBucket{name: name, seed: seen.TextSeed(name)}
}

// keepReading keeps the tag of a reading that was handled as a whole.
func (r *round) keepReading() {
	if r.refused != nil || !r.complete || r.deferred || r.adopting {
		return
	}
	r.Poller.backlog.tag, r.Poller.backlog.roles = r.tag, r.roles
}

// unchangedSince is the tag of the last reading, where an unchanged backlog needs no work;
// else "".
func (r *round) unchangedSince(ctx context.Context) string {
	b := &r.Poller.backlog
	if b.tag == "" || r.adopting || r.began.Sub(b.read) >= wholeReading {
		return ""
	}
	for bucket := range b.roles {
		r.bucketRole(ctx, bucket)
	}
	if !maps.Equal(b.roles, r.roles) {
		return ""
	}
	for id, s := range r.sprintCards {
		if k := r.cards.Items[id]; k != nil && k.Reading == b.reading && b.merged[id] != r.cards.QuickCard(&s.card) {
			return ""
		}
	}
	return b.tag
}

// confirmReading records that the backlog is as in the last reading.
func (r *round) confirmReading() {
	for id, k := range r.cards.Items {
		if k.Reading != r.Poller.backlog.reading {
			continue
		}
		r.markSeen(k, backlogListing)
		k.Confirmed = r.began.UnixNano()
		delete(r.sprintCards, id)
	}
}

// listedCard handles a card of the backlog.
func (r *round) listedCard(ctx context.Context, bucket mapping.ObjectID, title string, card mapping.Card) error {
	if s := r.sprintCards[card.ID]; s != nil {
		r.text = 0
		delete(r.sprintCards, card.ID)
		return r.mergeSightings(ctx, bucket, title, card, s.card)
	}
	if r.unchanged(ctx, &card, backlogListing) {
		if !card.Placeholder && r.text != 0 {
			r.cards.Items[card.ID].Text = r.text
		}
		return nil
	}
	c := card // only changed cards move to the heap
	return r.card(ctx, &c, backlogListing)
}

// unchangedText reports whether the hash of a card's text is the stored one, and records that it
// was seen. Such a card is not even decoded.
func (r *round) unchangedText(ctx context.Context, id []byte) bool {
	k := r.cards.Items[mapping.ObjectID(id)]
	if k == nil || k.Text != r.text || r.sprintCards[mapping.ObjectID(id)] != nil {
		return false
	}
	if r.bucket.role == nil {
		role := r.bucketRole(ctx, r.bucket.name)
		r.bucket.role = &role
	}
	if !r.isStored(k, *r.bucket.role) {
		return false
	}
	if k.Bucket == nil || k.Bucket.Title == "" {
		known := seen.KnownBucket{Bucket: r.bucket.name}
		if k.Bucket != nil {
			known.StateID = k.Bucket.StateID
		}
		k.Bucket = r.cards.Bucket(known)
	}
	r.markSeen(k, backlogListing)
	k.Confirmed = r.began.UnixNano()
	return true
}

// mergeSightings handles a card that the backlog and a sprint show. The newer version counts,
// and the bucket is the backlog's.
func (r *round) mergeSightings(ctx context.Context, bucket mapping.ObjectID, title string, backlog, sprint mapping.Card) error {
	r.Poller.backlog.merged[backlog.ID] = r.cards.QuickCard(&sprint)
	c := newest(backlog, sprint)
	c.Bucket, c.BucketName = bucket, title
	return r.card(ctx, &c, backlogListing)
}
