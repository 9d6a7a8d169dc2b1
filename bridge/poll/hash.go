package poll

import (
	"encoding/binary"
	"hash/maphash"
	"math"

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
	var h maphash.Hash
	h.SetSeed(m.seed)
	hashNumbers(&h, uint64(c.CID), uint64(c.Version), uint64(c.CountersVersion))
	hashVersioned(&h, &c.Title, &c.Summary, &c.Estimate)
	hashStrings(&h, string(c.ID), string(c.Bucket), c.BucketName, string(c.StateID), string(c.Iteration), c.Review)
	if c.Placeholder {
		h.WriteByte(1)
	}
	if c.Users != nil {
		h.WriteByte(2)
		hashStrings(&h, c.Users...)
	}
	if n := c.Counters; n != nil {
		hashNumbers(&h, math.Float64bits(n.Done), math.Float64bits(n.Todo), math.Float64bits(n.InProgress), math.Float64bits(n.Total))
		hashStrings(&h, n.Status)
	}
	return max(h.Sum64(), 1)
}

// quickTask is quickCard for [mapping.DigestTask] of the task without owner.
func (m *cardCache) quickTask(t *mapping.Task) uint64 {
	var h maphash.Hash
	h.SetSeed(m.seed)
	hashNumbers(&h, uint64(t.CID), uint64(t.Version))
	hashVersioned(&h, &t.Title, &t.Summary, &t.Estimate, &t.State)
	hashStrings(&h, string(t.ID))
	return max(h.Sum64(), 1)
}

func hashNumbers(h *maphash.Hash, ns ...uint64) {
	var b [8]byte
	for _, n := range ns {
		binary.LittleEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
}

// hashStrings hashes each text with its length, so that none runs into the next.
func hashStrings(h *maphash.Hash, ss ...string) {
	for _, s := range ss {
		hashNumbers(h, uint64(len(s)))
		h.WriteString(s)
	}
}

func hashVersioned(h *maphash.Hash, vs ...*mapping.Versioned) {
	for _, v := range vs {
		hashNumbers(h, uint64(v.Version))
		hashStrings(h, v.Value)
	}
}
