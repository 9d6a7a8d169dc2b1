package poll

import (
	"hash/maphash"

	"planbridge/mapping"
)

// withoutTasks is the card without the parts that differ between listings though nobody
// changed them: only some listings nest tasks, which have marks of their own.
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

// quickCard hashes the input of [mapping.DigestCard] without tasks, and allocates nothing. 0
// stands for "not taken".
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
