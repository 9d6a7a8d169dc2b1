package poll

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// memory is what was seen of a project's cards or tasks. It is the store's
// marks (id to "digest route\x1froute…", and "\x1euser\x1fuser…") and, so that an item that is as it
// was costs next to nothing, a quick hash of each in this process.
type memory struct {
	set   string // the marks' name
	seed  maphash.Seed
	items map[mapping.ObjectID]*known
	texts map[uint64]textOf // by known.text
	// buckets holds each bucket that cards were shown in once.
	buckets map[bucketOf]*bucketOf
}

// bucketOf is the bucket that a listing of the backlog shows a card in.
type bucketOf struct {
	id      mapping.ObjectID
	title   string
	stateID mapping.ObjectID
}

// textOf is what is remembered of the card that a text is of.
type textOf struct {
	id    mapping.ObjectID
	known *known
}

// known is what is remembered of one item.
type known struct {
	digest  string   // "": the links are to be told of it, changed or not
	users   []string // who works on the card in its sprint, see users.go
	routes  []string // in whose buckets the card has been seen, or oldTask; shared, never changed in place
	version int64    // as it was shown last; 0: not in this process
	quick   uint64   // quick hash of what digest is of; 0: not taken in this process
	text    uint64   // hash of how the backlog spelt what quick is of; 0: not known
	place   mapping.ObjectID
	bucket  *bucketOf // that a listing told last; nil: none did in this process
	round   uint32    // in which it was last seen
	gone    bool      // it disappeared, and that was observed
	// made: it entered in this process, so that its issue may not exist yet.
	made bool
	// seen is when the round in which it was last seen began, and stood when the
	// last one did that showed it as it is remembered here, in Unix nanoseconds; 0:
	// no round of this process. A sight that could not be stored moves only seen.
	seen, stood int64
	// versions are the card's when quick was taken, and times when those of its
	// attributes came to be that changed in this process; nil: none did.
	versions [4]int64
	times    *[4]mapping.Interval
}

// saw notes that the card was seen in a round.
func (k *known) saw(r *round, place mapping.ObjectID) {
	k.place = place
	if k.round != r.rounds {
		k.round, k.seen = r.rounds, r.began.UnixNano()
	}
}

// polled bounds when what a round shows of the card came to be.
func (k *known) polled(now time.Time) mapping.Interval {
	if k.stood == 0 {
		return mapping.Interval{}
	}
	return mapping.Interval{From: time.Unix(0, k.stood).UTC(), To: now.UTC()}
}

// took takes in the versions of a card's attributes, before its quick hash is, and
// returns when each came to be, as far as rounds of this process tell. fresh: the
// card is new itself.
func (k *known) took(c *mapping.Card, fresh bool, polled mapping.Interval) map[mapping.Attribute]mapping.Interval {
	versions, told := c.Versions(), k.quick != 0 || fresh
	times := new([4]mapping.Interval) // others may have the old ones
	if k.times != nil {
		*times = *k.times
	}
	out := map[mapping.Attribute]mapping.Interval{}
	for i, a := range mapping.Attributes {
		switch {
		case !told:
			times[i] = mapping.Interval{}
		case fresh || versions[i] != k.versions[i]:
			times[i], k.times = polled, times
		}
		if !times[i].From.IsZero() {
			out[a] = times[i]
		}
	}
	if k.versions = versions; !told {
		k.times = nil
	}
	return out
}

func loadMemory(ctx context.Context, s store.State, project mapping.ObjectID, set string) (*memory, error) {
	marks, err := s.Marks(ctx, project, set)
	if err != nil {
		return nil, fmt.Errorf("read marks of %s: %w", set, err)
	}
	m := &memory{set: set, seed: maphash.MakeSeed(), items: make(map[mapping.ObjectID]*known, len(marks)), texts: map[uint64]textOf{}, buckets: map[bucketOf]*bucketOf{}}
	for id, mark := range marks {
		mark, users := cutUsers(mark)
		digest, routes, _ := strings.Cut(mark, " ")
		k := &known{digest: digest, users: users}
		if routes != "" {
			k.routes = strings.Split(routes, "\x1f")
		}
		m.items[mapping.ObjectID(id)] = k
	}
	return m, nil
}

// recall takes over, from what was remembered of a store that is lost, in
// whose buckets cards have been seen, so that what people made since still
// enters and what was old stays so. Of the rest nothing is known to be stored.
func (m *memory) recall(old *memory) {
	for id, k := range old.items {
		if _, ok := m.items[id]; !ok && !k.made {
			m.items[id] = &known{routes: k.routes, bucket: k.bucket}
		}
	}
}

// keepBucket remembers the bucket that a listing tells, and completes a sight
// that does not tell it: a sprint's listing shows no buckets. The store may still
// hold the sight that told it, which this one replaces there.
func (m *memory) keepBucket(c *mapping.Card, k *known) {
	switch {
	case c.BucketName != "":
		b := bucketOf{c.Bucket, c.BucketName, c.StateID}
		if m.buckets[b] == nil { // the texts may be part of a whole answer
			own := bucketOf{mapping.ObjectID(strings.Clone(string(b.id))), strings.Clone(b.title), mapping.ObjectID(strings.Clone(string(b.stateID)))}
			m.buckets[own] = &own
		}
		k.bucket = m.buckets[b]
	case c.Bucket == "" && k.bucket != nil:
		c.Bucket, c.BucketName, c.StateID = k.bucket.id, k.bucket.title, k.bucket.stateID
	}
}

func (k *known) mark() string {
	return k.digest + " " + strings.Join(k.routes, "\x1f") + markUsers(k.users)
}

// entered reports whether the card was seen in a bucket of the route before.
func (k *known) entered(route string) bool { return slices.Contains(k.routes, route) }

// bare is the card without what differs between listings though nobody
// changed it: tasks are nested only in some, and have marks of their own.
func bare(c *mapping.Card) *mapping.Card {
	b := *c
	b.Tasks = nil
	return &b
}

// ownerless is the task without its card's id, which some answers omit.
func ownerless(t *mapping.Task) *mapping.Task {
	b := *t
	b.Owner = ""
	return &b
}

// hashText hashes how a bucket's listing spells a card, without reading it.
func (m *memory) hashText(bucket mapping.ObjectID, title string, text []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(m.seed)
	texts(&h, string(bucket), title)
	h.Write(text)
	return max(h.Sum64(), 1)
}

// noteText remembers how a card is spelt that was found unchanged.
func (m *memory) noteText(text uint64, card mapping.ObjectID) {
	k := m.items[card]
	if text == 0 || k == nil || k.text == text {
		return
	}
	m.forgetText(k)
	k.text = text
	m.texts[text] = textOf{mapping.ObjectID(strings.Clone(string(card))), k}
}

func (m *memory) forgetText(k *known) {
	delete(m.texts, k.text)
	k.text = 0
}

// quickCard hashes what [mapping.DigestCard] of the bare card is of, without
// allocating. 0 is kept for "not taken".
func (m *memory) quickCard(c *mapping.Card) uint64 {
	var h maphash.Hash
	h.SetSeed(m.seed)
	number(&h, uint64(c.CID), uint64(c.Version), uint64(c.CountersVersion))
	versioned(&h, &c.Title, &c.Summary, &c.Estimate)
	texts(&h, string(c.ID), string(c.Bucket), c.BucketName, string(c.StateID), string(c.Iteration), c.Review)
	if c.Placeholder {
		h.WriteByte(1)
	}
	if c.Users != nil {
		h.WriteByte(2)
		texts(&h, c.Users...)
	}
	if n := c.Counters; n != nil {
		number(&h, math.Float64bits(n.Done), math.Float64bits(n.Todo), math.Float64bits(n.InProgress), math.Float64bits(n.Total))
		texts(&h, n.Status)
	}
	return max(h.Sum64(), 1)
}

// quickTask is quickCard for [mapping.DigestTask] of the ownerless task.
func (m *memory) quickTask(t *mapping.Task) uint64 {
	var h maphash.Hash
	h.SetSeed(m.seed)
	number(&h, uint64(t.CID), uint64(t.Version))
	versioned(&h, &t.Title, &t.Summary, &t.Estimate, &t.State)
	texts(&h, string(t.ID))
	return max(h.Sum64(), 1)
}

func number(h *maphash.Hash, ns ...uint64) {
	var b [8]byte
	for _, n := range ns {
		binary.LittleEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
}

// texts hashes each text with its length, so that none runs into the next.
func texts(h *maphash.Hash, ss ...string) {
	for _, s := range ss {
		number(h, uint64(len(s)))
		h.WriteString(s)
	}
}

func versioned(h *maphash.Hash, vs ...*mapping.Versioned) {
	for _, v := range vs {
		number(h, uint64(v.Version))
		texts(h, v.Value)
	}
}
