package poll

import (
	"hash/maphash"

	"planbridge/mapping"
)

// withoutTasks is the card without what differs between listings though nobody
// changed it: tasks are nested only in some, and have marks of their own.
func withoutTasks(c *mapping.Card) *mapping.Card {
	b := *c
	b.Tasks = nil
	return &b
}

// withoutOwner is the task without its card's id, which some answers omit.
func withoutOwner(t *mapping.Task) *mapping.Task {
	b := *t
	b.Owner = ""
	return &b
}

// quickCard hashes what [mapping.DigestCard] of the card without tasks is of, without
// allocating. 0 is kept for "not taken".
func (m *cardCache) quickCard(c *mapping.Card) uint64 {
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

// quickTask is quickCard for [mapping.DigestTask] of the task without owner.
func (m *cardCache) quickTask(t *mapping.Task) uint64 {
	return max(maphash.Comparable(m.seed, *withoutOwner(t)), 1)
}
