// Package seen remembers each card and task that polls saw, so that an unchanged one costs next to
// nothing.
//
// The entry point is [Load], which reads the marks of an earlier process from the store. A
// [Cache] has one [Entry] for each item. It does no other I/O and is not safe for concurrent
// use.
package seen

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// Cache caches a project's cards, or its tasks. The store keeps the entries as marks: id
// to "digest route\x1froute…", and "\x1euser\x1fuser…". A route may be a stamp, see stamp.go.
// The process adds a quick hash of each item, so that an unchanged one costs next to nothing.
type Cache struct {
	Set   string // the marks' name
	Items map[mapping.ObjectID]*Entry
	seed  maphash.Seed
	// buckets holds one copy of each bucket.
	buckets map[KnownBucket]*KnownBucket
	// last is the last result of state, as most entries have the bucket of the one before.
	last *KnownBucket
	// routes has the routes of loaded entries, by their text in marks.
	routes map[string][]string
}

// KnownBucket is a card's bucket in the backlog's listing. Without a title only the state is
// known.
type KnownBucket struct {
	Bucket
	StateID mapping.ObjectID
}

// Bucket is a bucket of the backlog's listing.
type Bucket struct {
	ID    mapping.ObjectID
	Title string
}

// Entry is the cached state of one item.
type Entry struct {
	// The fields that each round reads come first, so that they lie together in memory.

	Text    uint64 // hash of the text that the backlog showed it as, see [HashText]; 0: not known
	Quick   uint64 // quick hash of the input of Digest; 0: not taken in this process
	Reading uint32 // of the backlog that showed it last, which counts its readings
	Round   uint32 // in which it was last seen
	Gone    bool   // it disappeared, and that was observed
	// Made: it entered in this process, so that its issue may not exist yet.
	Made bool
	Told bool // the versions are those of the last sight
	Held bool // the store's servers restarted, and it holds the observation of this
	// Seen is when the last round that saw it began. Confirmed is when the last round that showed
	// its cached state began. Both are in Unix nanoseconds; 0: no round of this process. A sight
	// that could not be stored changes Seen alone.
	Seen, Confirmed int64
	Routes          []string         // routes in whose buckets the card was seen, or stamps; shared, never changed in place
	Listing         mapping.ObjectID // that showed it last: a sprint, or the id for the backlog
	Bucket          *KnownBucket     // that a listing or its mark told last; nil: none is known

	Digest  string   // "": it is observed again, changed or not
	Users   []string // people who work on the card in its sprint, see RecallUsers
	Version int64    // as it was shown last; 0: not known
	// Versions are those of the cached card, where Told is set. Times bounds the changes of its
	// attributes in this process; nil: there was none.
	Versions [4]int64
	Times    *[4]mapping.Interval
}

// Polled bounds when a change that a round shows was made.
func (k *Entry) Polled(now time.Time) mapping.Interval {
	if k.Confirmed == 0 {
		return mapping.Interval{}
	}
	return mapping.Interval{From: time.Unix(0, k.Confirmed).UTC(), To: now.UTC()}
}

// TakeVersions records the versions of a card's attributes, before its quick hash is taken. It
// returns when each was written, as far as rounds of this process show. fresh: the card itself is
// new.
func (k *Entry) TakeVersions(c *mapping.Card, fresh bool, polled mapping.Interval) map[mapping.Attribute]mapping.Interval {
	versions, told := c.Versions(), k.Told || fresh
	var times [4]mapping.Interval // a copy, as others may have the old ones
	if k.Times != nil && told {
		times = *k.Times
	}
	out := map[mapping.Attribute]mapping.Interval{}
	for i, a := range mapping.Attributes {
		if told && (fresh || versions[i] != k.Versions[i]) {
			times[i] = polled
		}
		if !times[i].From.IsZero() {
			out[a] = times[i]
		}
	}
	k.Versions, k.Told, k.Times = versions, true, nil
	if len(out) > 0 {
		k.Times = &times
	}
	return out
}

// Load reads the marks of a set from the store.
func Load(ctx context.Context, s store.State, project mapping.ObjectID, set string) (*Cache, error) {
	marks, err := s.Marks(ctx, project, set)
	if err != nil {
		return nil, fmt.Errorf("read marks of %s: %w", set, err)
	}
	m := New(set, len(marks))
	for _, mark := range marks { // by their ids, so that cards made together lie together in memory
		m.Items[mapping.ObjectID(mark.ID)] = m.readMark(mark.Text)
	}
	return m, nil
}

// New returns an empty cache with room for so many items.
func New(set string, items int) *Cache {
	return &Cache{
		Set: set, Items: make(map[mapping.ObjectID]*Entry, items),
		seed: maphash.MakeSeed(), buckets: map[KnownBucket]*KnownBucket{}, routes: map[string][]string{},
	}
}

// readMark decodes a mark.
func (m *Cache) readMark(mark string) *Entry {
	mark, users := cutUsers(mark)
	digest, routes, _ := strings.Cut(mark, " ")
	k := &Entry{Digest: strings.Clone(digest), Users: users} // without the rest of the mark
	m.takeRoutes(k, routes)
	return k
}

// HasEntered reports whether a mark says that its card was seen in a bucket of a route. Such a
// card does not enter by that route.
func HasEntered(mark string, route *mapping.Route) bool {
	return New(store.MarksCards, 0).readMark(mark).Entered(route.Identity())
}

// Inherit takes over, from the cache of a lost store, the buckets in which cards were seen. So
// cards that people made since then still enter, and old ones stay old. Nothing else counts as
// stored.
func (m *Cache) Inherit(old *Cache) {
	for id, k := range old.Items {
		if _, ok := m.Items[id]; !ok && !k.Made {
			m.Items[id] = &Entry{Routes: k.Routes, Bucket: k.Bucket}
		}
	}
}

// Unsure is the mark of an item whose observation may be lost. Made: that made its link.
type Unsure struct {
	Set  string
	ID   mapping.ObjectID
	Made bool
}

// Doubt makes items with unsure marks be observed again. Those that entered enter again.
func (m *Cache) Doubt(marks []Unsure) {
	for _, u := range marks {
		k := m.Items[u.ID]
		switch {
		case u.Set != m.Set || k == nil:
		case u.Made:
			delete(m.Items, u.ID)
		default:
			k.Digest = ""
		}
	}
}

// Put caches an item.
func (m *Cache) Put(id mapping.ObjectID, k Entry) {
	if old := m.Items[id]; old != nil {
		*old = k
		return
	}
	m.Items[id] = &k
}

// CompleteBucket caches a listing's bucket, and completes a sight without one: a sprint's
// listing has no buckets. The store may still hold the sight with the bucket, which this one
// replaces there.
func (m *Cache) CompleteBucket(c *mapping.Card, k *Entry) {
	switch {
	case c.BucketName != "":
		k.Bucket = m.Bucket(KnownBucket{Bucket{c.Bucket, c.BucketName}, c.StateID})
	case c.Bucket == "" && k.Bucket != nil && k.Bucket.Title != "":
		c.Bucket, c.BucketName, c.StateID = k.Bucket.ID, k.Bucket.Title, k.Bucket.StateID
	}
}

// Bucket is the shared copy of a bucket.
func (m *Cache) Bucket(b KnownBucket) *KnownBucket {
	if m.buckets[b] == nil {
		m.buckets[b] = &b
	}
	return m.buckets[b]
}

// Mark is the entry as the store keeps it.
func (k *Entry) Mark() string {
	routes := k.Routes
	if s := k.stamp(); s != "" {
		routes = append(slices.Clip(routes), s)
	}
	return k.Digest + " " + strings.Join(routes, "\x1f") + markUsers(k.Users)
}

// Entered reports whether the card was seen in a bucket of the route before.
func (k *Entry) Entered(route string) bool { return slices.Contains(k.Routes, route) }

// Only the listing of its sprint shows who works on a card's tasks. The users are cached with
// the card. So a sight of the card in the backlog, or in a round that leaves out an ended
// sprint, counts as no change.

// RecallUsers completes a sight without users.
func RecallUsers(c *mapping.Card, k *Entry) {
	if c.Users == nil {
		c.Users = k.Users
	}
}

// markUsers is the users' part of a card's mark: none where they are not known, a bare
// separator where there are none.
func markUsers(users []string) string {
	if users == nil {
		return ""
	}
	return "\x1e" + strings.Join(users, "\x1f")
}

// cutUsers splits the users' part off a mark.
func cutUsers(mark string) (rest string, users []string) {
	rest, text, known := strings.Cut(mark, "\x1e")
	switch {
	case !known:
		return rest, nil
	case text == "":
		return rest, []string{}
	}
	return rest, slices.Clip(strings.Split(text, "\x1f"))
}
