package poll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

const (
	// ended is how long an ended sprint is polled like a live one.
	ended = 14 * 24 * time.Hour
	// oldEvery is how many rounds lie between two looks at an older sprint;
	// they take turns.
	oldEvery = 10
	// batchSize is how many observations are stored at once.
	batchSize = 200
	// inBacklog is the place of a card that the backlog's listing shows. No
	// sprint has this id.
	inBacklog = mapping.ObjectID("\x00backlog")
)

// round is one look at everything of a project.
type round struct {
	*Poller
	began    time.Time
	routes   mapping.Routes
	keys     mapping.Keys
	adopting bool  // everything is read, and whatever is marked is observed
	telling  bool  // every card is observed: the links that GitHub's markers name are all there
	complete bool  // no listing failed so far
	refused  error // why the store did not take an item; nil: it took all

	listed  []Sprint                  // as they were listed
	sprints map[mapping.ObjectID]bool // those that exist; true: read in this round
	shown   map[mapping.ObjectID]*shown
	nested  map[mapping.ObjectID]bool // cards whose tasks the sprints showed
	tasked  []mapping.Task            // what they showed, to be taken in once their cards are
	homes   map[bucketName]home
	batch   []item
}

// shown is a card as the sprints show it.
type shown struct {
	card   mapping.Card
	sprint mapping.ObjectID
}

type bucketName struct {
	id    mapping.ObjectID
	title string
}

// home is what a bucket means for the cards in it.
type home struct {
	route  *mapping.Route // makes issues of new cards; nil: none does
	enters bool           // what was in it when the route began is recorded
}

// run reads all there is to read, the sprints first: the backlog streams by
// and its cards are joined with what the sprints showed of them. An error
// means that planning or the store did not answer; complete is false where a
// single sprint could not be read.
func (r *round) run(ctx context.Context) error {
	r.routes, r.keys, r.complete = r.o.Routes(), r.o.Keys(), true
	r.homes, r.shown, r.nested = map[bucketName]home{}, map[mapping.ObjectID]*shown{}, map[mapping.ObjectID]bool{}
	if err := r.readSprints(ctx); err != nil {
		return err
	}
	if err := r.readBacklog(ctx); err != nil {
		return err
	}
	for _, s := range mapping.Sorted(r.shown) {
		err := r.guarded("card", s.card.ID, func() error {
			s.card.BucketName = r.buckets[s.card.Bucket]
			return r.card(ctx, &s.card, s.sprint)
		})
		if err != nil {
			return err
		}
	}
	if err := r.takeTasks(ctx, r.tasked); err != nil {
		return err
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	r.o.OnSuccess(ctx)
	if r.refused != nil {
		return fmt.Errorf("observe: %w", r.refused)
	}
	if err := r.record(ctx); err != nil {
		return err
	}
	if err := r.lookForMissing(ctx); err != nil {
		return err
	}
	_ = r.guarded("burndowns of", r.o.Project, func() error { r.readBurndowns(ctx); return nil }) // they are told once
	if err := r.sweepTasks(ctx); err != nil {
		return err
	}
	return r.flush(ctx)
}

func (r *round) readSprints(ctx context.Context) error {
	sprints, err := r.o.Planning.Sprints(ctx)
	if err != nil {
		return fmt.Errorf("list sprints: %w", err)
	}
	r.sprints = make(map[mapping.ObjectID]bool, len(sprints))
	for _, s := range sprints {
		r.sprints[s.ID] = false
	}
	r.listed = sprints
	if err := r.tellSprints(ctx, sprints); err != nil {
		return err
	}
	for _, s := range r.due(sprints) {
		err := r.o.Guard.Do("sprint", string(s.ID), func() error {
			cards, tasks, err := r.o.Planning.SprintItems(ctx, s.ID)
			if err == nil {
				r.sprint(s.ID, cards, tasks)
			}
			return err
		})
		if guard.Panicked(err) {
			r.complete = false
			continue
		}
		if err != nil {
			if unanswered(err) || ctx.Err() != nil {
				return fmt.Errorf("list items of sprint %s: %w", s.ID, err)
			}
			r.complete = false
			r.o.Logger.Warn("sprint could not be read", "sprint", s.ID, "err", err)
			continue
		}
		r.sprints[s.ID] = true
	}
	return nil
}

// guarded takes in one item. Where the program panics on it the round goes on without
// it, but adopts nothing: what is marked has not all been seen.
func (r *round) guarded(what string, id mapping.ObjectID, take func() error) error {
	err := r.o.Guard.Do(what, string(id), take)
	if !guard.Panicked(err) {
		return err
	}
	r.complete = r.complete && !r.adopting
	return nil
}

// unanswered tells a service that does not answer from one that refuses one
// item: the rest of a round is of no use then.
func unanswered(err error) bool {
	var limited *mapping.RateLimited
	return errors.Is(err, mapping.ErrUnavailable) || errors.Is(err, mapping.ErrUnauthorized) || errors.As(err, &limited)
}

// due chooses the sprints that this round reads: those that still move, and
// now and then one of the others.
func (r *round) due(sprints []Sprint) []Sprint {
	if r.adopting {
		return sprints
	}
	var live, old []Sprint
	for _, s := range sprints {
		if s.Past && !s.Active && !s.Future && r.o.Now().Sub(s.End) > ended {
			old = append(old, s)
		} else {
			live = append(live, s)
		}
	}
	if turn := int(r.rounds); len(old) > 0 && turn%oldEvery == 0 {
		live = append(live, old[turn/oldEvery%len(old)])
	}
	return live
}

func (r *round) sprint(id mapping.ObjectID, cards []mapping.Card, tasks []mapping.Task) {
	for i := range cards {
		c := &cards[i]
		r.nested[c.ID] = r.nested[c.ID] || len(c.Tasks) > 0
		r.tasked = append(r.tasked, c.Tasks...)
		switch s := r.shown[c.ID]; {
		case s == nil:
			r.shown[c.ID] = &shown{*c, id}
		case c.Version > s.card.Version:
			*s = shown{join(*c, s.card), id}
		default:
			s.card = join(s.card, *c)
		}
	}
	for i := range tasks {
		r.nested[tasks[i].Owner] = true
	}
	r.tasked = append(r.tasked, tasks...)
}

// join completes the newer sight of a card by what only the older one tells.
func join(newer, older mapping.Card) mapping.Card {
	if newer.Tasks == nil {
		newer.Tasks = older.Tasks
	}
	if newer.Users == nil {
		newer.Users = older.Users
	}
	return newer
}

func (r *round) readBacklog(ctx context.Context) error {
	var text uint64 // of the card that is visited next
	known := func(bucket mapping.ObjectID, title string, spelt []byte) bool {
		r.buckets[bucket] = title
		text = r.cards.hashText(bucket, title, spelt)
		return r.spelt(ctx, bucketName{bucket, title}, text)
	}
	err := r.o.Planning.BacklogNews(ctx, known, func(bucket mapping.ObjectID, title string, card mapping.Card) error {
		hash := text
		text = 0 // a card that was held until its bucket was named is not shown to known
		r.buckets[bucket] = title
		if k := r.cards.items[card.ID]; k != nil {
			k.saw(r, inBacklog) // also where the rest of it panics
		}
		return r.guarded("card", card.ID, func() error { return r.listedCard(ctx, bucket, title, card, hash) })
	})
	if err != nil {
		return fmt.Errorf("list backlog: %w", err)
	}
	return nil
}

// listedCard takes in a card of the backlog, whose text has the hash.
func (r *round) listedCard(ctx context.Context, bucket mapping.ObjectID, title string, card mapping.Card, hash uint64) error {
	if s := r.shown[card.ID]; s != nil {
		delete(r.shown, card.ID)
		return r.both(ctx, bucket, title, card, s.card)
	}
	if r.unchanged(ctx, &card, inBacklog) {
		if !card.Placeholder {
			r.cards.noteText(hash, card.ID)
		}
		return nil
	}
	c := card // only what changed moves to the heap
	return r.card(ctx, &c, inBacklog)
}

// spelt reports whether nothing is to be done about a card that is spelt as it
// was when it was found unchanged, and notes that it was seen: it says what it
// did then, so that it need not even be read.
func (r *round) spelt(ctx context.Context, bucket bucketName, text uint64) bool {
	t, ok := r.cards.texts[text]
	if !ok || t.known.text != text || r.adopting || t.known.gone || r.shown[t.id] != nil {
		return false
	}
	h := r.home(ctx, &mapping.Card{Bucket: bucket.id, BucketName: bucket.title})
	if h.route != nil && !t.known.entered(h.route.Name) {
		return false
	}
	t.known.saw(r, inBacklog)
	t.known.stood = r.began.UnixNano()
	return true
}

// both takes in a card that the backlog and a sprint show: the newer sight
// counts, and the bucket is that of the backlog.
func (r *round) both(ctx context.Context, bucket mapping.ObjectID, title string, backlog, sprint mapping.Card) error {
	c := join(backlog, sprint)
	if sprint.Version > backlog.Version {
		c = join(sprint, backlog)
		c.Bucket, c.BucketName = bucket, title
	}
	return r.card(ctx, &c, inBacklog)
}

// home says what the card's bucket means.
func (r *round) home(ctx context.Context, c *mapping.Card) home {
	key := bucketName{c.Bucket, c.BucketName}
	if h, ok := r.homes[key]; ok {
		return h
	}
	var h home
	if c.Bucket != "" {
		h.route = r.routes.ForBucket(r.o.Project, c.BucketName, r.bucketIDs(ctx, c.Bucket)...)
	}
	if h.route != nil {
		h.enters = slices.ContainsFunc(r.baseline[h.route.Name], func(b string) bool {
			return b == c.BucketName || b == string(c.Bucket)
		})
	}
	r.homes[key] = h
	return h
}

// unchanged reports whether nothing is to be done about a card, and notes that
// it was seen. It neither allocates nor asks the store.
func (r *round) unchanged(ctx context.Context, c *mapping.Card, place mapping.ObjectID) bool {
	if c.Placeholder {
		return true // holds tasks of no card; no issue has it for a partner
	}
	k := r.cards.items[c.ID]
	if k == nil {
		return false
	}
	k.saw(r, place)
	recallUsers(c, k)
	h := r.home(ctx, c)
	if k.quick != r.cards.quickCard(c) {
		return false
	}
	k.stood = r.began.UnixNano()
	return !r.adopting && !k.gone && k.digest != "" && (h.route == nil || k.entered(h.route.Name))
}

// card takes in a card.
func (r *round) card(ctx context.Context, c *mapping.Card, place mapping.ObjectID) error {
	if r.unchanged(ctx, c, place) {
		return nil
	}
	old, h := r.cards.items[c.ID], r.home(ctx, c)
	k := known{stood: r.lastWhole()}
	if old != nil {
		k = *old
		r.cards.forgetText(&k)
	} else {
		k.saw(r, place)
	}
	polled := k.polled(r.o.Now())
	times := k.took(c, old == nil, polled)
	k.stood = r.began.UnixNano()
	back := c.Version < k.version
	k.version = c.Version
	k.digest, k.quick, k.gone, k.users = mapping.DigestCard(bare(c)), r.cards.quickCard(c), false, keptUsers(c.Users)
	r.cards.keepBucket(c, &k)
	same := old != nil && old.digest == k.digest && !old.gone
	fresh := h.route != nil && !k.entered(h.route.Name)
	if fresh {
		k.routes = append(slices.Clip(k.routes), h.route.Name)
	}
	obs := store.Observation{
		Refs: []mapping.Ref{mapping.CardRef(c.ID)}, Item: mapping.CardRef(c.ID),
		At: c.Version, Digest: k.digest, Bulk: r.adopting,
	}
	if back {
		obs.Event = backEvent
	}
	marked := r.follow(&obs, c)
	r.left.lost = r.left.lost || r.adopting && marked
	switch {
	case fresh && h.enters && !marked && !r.foreign(c):
		obs.Create = h.route.EnterCard(c, r.o.Now().UTC())
		k.made = true
	case same && !(r.adopting && marked) && !r.telling:
		// Known from an earlier process, or newly recorded: no news of it.
		return r.add(ctx, item{memory: r.cards, id: c.ID, known: k})
	}
	c.Polled, c.Times = polled, times
	obs.Data = encode(c)
	seen := item{obs: &obs, memory: r.cards, id: c.ID, known: k}
	if r.adopting && fresh && !h.enters && !marked && !r.keys.Foreign(c.Summary.Value) {
		seen.left, seen.cid = h.route.Name, c.CID
	}
	return r.add(ctx, seen)
}

// lastWhole is when the last round began that would have shown a card that is
// new now.
func (r *round) lastWhole() int64 {
	if r.whole.IsZero() {
		return 0
	}
	return r.whole.UnixNano()
}

// encode is for plain data of this module, which always has a JSON form.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("poll: encode: " + err.Error())
	}
	return data
}

// bucketIDs returns a bucket's ids, the one that its listing shows first. The
// others are asked for only where a route names a bucket by an id.
func (r *round) bucketIDs(ctx context.Context, bucket mapping.ObjectID) []mapping.ObjectID {
	ids := []mapping.ObjectID{bucket}
	named := slices.ContainsFunc(r.routes.All(), func(route *mapping.Route) bool { return route.Project == r.o.Project && route.NamesBucketByID() })
	if r.o.BucketIDs == nil || !named {
		return ids
	}
	all, err := r.o.BucketIDs(ctx, string(bucket))
	if err != nil {
		r.o.Logger.Warn("a bucket's other ids could not be read", "bucket", bucket, "err", err)
		return ids
	}
	return append(ids, all...)
}
