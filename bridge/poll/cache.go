package poll

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

// cardCache caches a project's cards, or its tasks. The store keeps the entries as marks: id
// to "digest route\x1froute…", and "\x1euser\x1fuser…". A route may be a stamp, see stamp.go.
// The process adds a quick hash of each item, so that an unchanged one costs next to nothing.
type cardCache struct {
	set   string // the marks' name
	seed  maphash.Seed
	items map[mapping.ObjectID]*cacheEntry
	// buckets holds one copy of each bucket.
	buckets map[knownBucket]*knownBucket
	// routes has the routes of loaded entries, by their text in marks.
	routes map[string][]string
}

// knownBucket is a card's bucket in the backlog's listing. Without a title only the state is
// known.
type knownBucket struct {
	bucketName
	stateID mapping.ObjectID
}

// cacheEntry is the cached state of one item.
type cacheEntry struct {
	// The fields that each round reads come first, so that they lie together in memory.

	raw     uint64 // hash of the text that the backlog showed it as, see openBucket; 0: not known
	quick   uint64 // quick hash of what digest is of; 0: not taken in this process
	reading uint32 // of the backlog that showed it last, see backlog
	round   uint32 // in which it was last seen
	gone    bool   // it disappeared, and that was observed
	// made: it entered in this process, so that its issue may not exist yet.
	made bool
	told bool // the versions are those that were shown last
	held bool // the store's servers restarted, and it holds the observation of this
	// seen is when the last round began that saw it. confirmed is when the last round began
	// that showed it as it is cached here. Both are in Unix nanoseconds; 0: no round of this
	// process. A sight that could not be stored changes seen alone.
	seen, confirmed int64
	routes          []string         // in whose buckets the card has been seen, or oldTask; shared, never changed in place
	listing         mapping.ObjectID // that showed it last: a sprint, or backlogListing
	bucket          *knownBucket     // that a listing or its mark told last; nil: none is known

	digest  string   // "": it is observed again, changed or not
	users   []string // who works on the card in its sprint, see recallUsers
	version int64    // as it was shown last; 0: not known
	// versions are the card's as it is cached here, where told is set. times bounds when those
	// of its attributes changed that changed in this process; nil: none did.
	versions [4]int64
	times    *[4]mapping.Interval
}

// markSeen records that a round saw the card.
func (k *cacheEntry) markSeen(r *round, listing mapping.ObjectID) {
	k.listing = listing
	if listing == backlogListing {
		k.reading = r.backlog.reading
	}
	if k.round != r.rounds {
		k.round, k.seen = r.rounds, r.began.UnixNano()
	}
}

// polled bounds when a change that a round shows was made.
func (k *cacheEntry) polled(now time.Time) mapping.Interval {
	if k.confirmed == 0 {
		return mapping.Interval{}
	}
	return mapping.Interval{From: time.Unix(0, k.confirmed).UTC(), To: now.UTC()}
}

// takeVersions records the versions of a card's attributes, before its quick hash is taken. It
// returns when each was written, as far as rounds of this process say. fresh: the card itself
// is new.
func (k *cacheEntry) takeVersions(c *mapping.Card, fresh bool, polled mapping.Interval) map[mapping.Attribute]mapping.Interval {
	versions, told := c.Versions(), k.told || fresh
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
	if k.versions, k.told = versions, true; !told {
		k.times = nil
	}
	return out
}

// loadCache reads the marks of a set from the store.
func loadCache(ctx context.Context, s store.State, project mapping.ObjectID, set string) (*cardCache, error) {
	marks, err := s.Marks(ctx, project, set)
	if err != nil {
		return nil, fmt.Errorf("read marks of %s: %w", set, err)
	}
	m := newCardCache(set, len(marks))
	for id, mark := range mapping.Sorted(marks) { // cards made together then lie together in memory
		m.items[mapping.ObjectID(id)] = m.readMark(mark)
	}
	return m, nil
}

func newCardCache(set string, items int) *cardCache {
	return &cardCache{
		set: set, seed: maphash.MakeSeed(), items: make(map[mapping.ObjectID]*cacheEntry, items),
		buckets: map[knownBucket]*knownBucket{}, routes: map[string][]string{},
	}
}

// readMark decodes a mark.
func (m *cardCache) readMark(mark string) *cacheEntry {
	mark, users := cutUsers(mark)
	digest, routes, _ := strings.Cut(mark, " ")
	k := &cacheEntry{digest: strings.Clone(digest), users: users} // without the rest of the mark
	m.takeRoutes(k, routes)
	return k
}

// HasEntered reports whether a mark says that its card was seen in a bucket of a route. Such a
// card does not enter by that route.
func HasEntered(mark string, route *mapping.Route) bool {
	return newCardCache(SetCards, 0).readMark(mark).entered(route.Identity())
}

// inherit takes over, from the cache of a lost store, the buckets in which cards were seen. So
// cards that people made since then still enter, and old ones stay old. Nothing else is known
// to be stored.
func (m *cardCache) inherit(old *cardCache) {
	for id, k := range old.items {
		if _, ok := m.items[id]; !ok && !k.made {
			m.items[id] = &cacheEntry{routes: k.routes, bucket: k.bucket}
		}
	}
}

// unsureMark is the mark of an item whose observation may be lost. made: that made its link.
type unsureMark struct {
	set  string
	id   mapping.ObjectID
	made bool
}

// doubt has items observed again whose marks are unsure. Those that entered enter again.
func (m *cardCache) doubt(marks []unsureMark) {
	for _, u := range marks {
		k := m.items[u.id]
		switch {
		case u.set != m.set || k == nil:
		case u.made:
			delete(m.items, u.id)
		default:
			k.digest = ""
		}
	}
}

// put caches an item.
func (m *cardCache) put(id mapping.ObjectID, k cacheEntry) {
	if old := m.items[id]; old != nil {
		*old = k
		return
	}
	m.items[id] = &k
}

// completeBucket caches a listing's bucket, and completes a sight without one: a sprint's
// listing has no buckets. The store may still hold the sight with the bucket, which this one
// replaces there.
func (m *cardCache) completeBucket(c *mapping.Card, k *cacheEntry) {
	switch {
	case c.BucketName != "":
		k.bucket = m.bucket(knownBucket{bucketName{c.Bucket, c.BucketName}, c.StateID})
	case c.Bucket == "" && k.bucket != nil && k.bucket.title != "":
		c.Bucket, c.BucketName, c.StateID = k.bucket.id, k.bucket.title, k.bucket.stateID
	}
}

// bucket is the shared copy of a bucket.
func (m *cardCache) bucket(b knownBucket) *knownBucket {
	if m.buckets[b] == nil {
		m.buckets[b] = &b
	}
	return m.buckets[b]
}

func (k *cacheEntry) mark() string {
	routes := k.routes
	if s := k.stamp(); s != "" {
		routes = append(slices.Clip(routes), s)
	}
	return k.digest + " " + strings.Join(routes, "\x1f") + markUsers(k.users)
}

// entered reports whether the card was seen in a bucket of the route before.
func (k *cacheEntry) entered(route string) bool { return slices.Contains(k.routes, route) }

// Only the listing of its sprint shows who works on a card's tasks. The users are cached with
// the card. So a sight of the card in the backlog, or in a round that leaves out an ended
// sprint, counts as no change.

// recallUsers completes a sight without users.
func recallUsers(c *mapping.Card, k *cacheEntry) {
	if c.Users == nil {
		c.Users = k.users
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
