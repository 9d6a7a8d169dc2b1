package seen

import (
	"hash/maphash"

	"planbridge/mapping"
)

// WithoutTasks is the card without the parts that differ between unchanged listings. Only some
// listings nest tasks, which have marks of their own.
func WithoutTasks(c *mapping.Card) *mapping.Card {
	b := *c
	b.Tasks = nil
	return &b
}

// WithoutOwner is the task without its card's id, which some answers omit.
func WithoutOwner(t *mapping.Task) *mapping.Task {
	b := *t
	b.Owner = ""
	return &b
}

// QuickCard hashes the input of [mapping.DigestCard] without tasks, and allocates nothing. 0
// stands for "not taken".
func (m *Cache) QuickCard(c *mapping.Card) uint64 {
	var counters mapping.Counters
	if c.Counters != nil {
		counters = *c.Counters
	}
	h := maphash.Comparable(m.seed, struct {
		id, bucket, state, iteration mapping.ObjectID
		cid, version, counted        int64
		title, summary, estimate     mapping.Versioned
		bucketName, review           string
		placeholder, users, counts   bool
		counters                     mapping.Counters
	}{
		c.ID, c.Bucket, c.StateID, c.Iteration,
		c.CID, c.Version, c.CountersVersion,
		c.Title, c.Summary, c.Estimate,
		c.BucketName, c.Review,
		c.Placeholder, c.Users != nil, c.Counters != nil,
		counters,
	})
	for _, user := range c.Users {
		h = maphash.Comparable(m.seed, struct {
			before uint64
			user   string
		}{h, user})
	}
	return max(h, 1)
}

// QuickTask is QuickCard for [mapping.DigestTask] of the task without owner.
func (m *Cache) QuickTask(t *mapping.Task) uint64 {
	return max(maphash.Comparable(m.seed, *WithoutOwner(t)), 1)
}
