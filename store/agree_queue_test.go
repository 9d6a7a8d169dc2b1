package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"planbridge/mapping"
	"planbridge/store"
)

// This file has the operations of agree_test.go's histories.

// issues is the number of issues. There are few, so that operations meet.
const issues = 4

// refs are all items: the issues, and a card for each of the first ones.
var refs = []mapping.Ref{
	mapping.IssueRef(1), mapping.IssueRef(2), mapping.IssueRef(3), mapping.IssueRef(4), mapping.CardRef("c1"), mapping.CardRef("c2"),
}

var delays = []time.Duration{0, 0, 0, time.Millisecond, 30 * time.Second, time.Minute, 10 * time.Minute}

func anyRef(rt *rapid.T, label string) mapping.Ref { return rapid.SampledFrom(refs).Draw(rt, label) }

func anyDelay(rt *rapid.T, label string) time.Duration {
	return rapid.SampledFrom(delays).Draw(rt, label)
}

// anyLink returns the id of a link that mostly exists.
func (h *history) anyLink(rt *rapid.T) mapping.LinkID {
	if len(h.seen.Listed) > 0 && rapid.IntRange(0, 7).Draw(rt, "known") > 0 {
		return rapid.SampledFrom(h.seen.Listed).Draw(rt, "known link")
	}
	return mapping.LinkID(fmt.Sprint("l", rapid.IntRange(0, max(h.links, 1)).Draw(rt, "link")))
}

// authors and titles are those of the issues. One title is a variant of another.
var authors, titles = []string{"octocat", "hubot"}, []string{"", "Report", " Report\x00"}

// dress gives a link items, which others may have.
func dress(rt *rapid.T, l *mapping.Link) {
	l.Issue = mapping.IssueID{ID: rapid.Int64Range(1, issues).Draw(rt, "issue")}
	l.Issue.Author = rapid.SampledFrom(authors).Draw(rt, "author")
	l.Base = map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: rapid.SampledFrom(titles).Draw(rt, "title")}}
	l.Card.ID = rapid.SampledFrom([]mapping.ObjectID{"", "", "c1", "c2"}).Draw(rt, "card")
	l.Route = rapid.SampledFrom([]string{"", "web", "a b"}).Draw(rt, "route")
	l.State = rapid.SampledFrom([]mapping.LinkState{mapping.Entering, mapping.Linked}).Draw(rt, "state")
	l.Why = rapid.SampledFrom([]string{"", "because", "ö\x00"}).Draw(rt, "why")
}

// begin makes a link of each issue, as many as the queue takes.
func (h *history) begin(rt *rapid.T) {
	var obs []store.Observation
	for i := range int64(issues) {
		h.links++
		l := &mapping.Link{ID: mapping.LinkID(fmt.Sprint("l", h.links)), Project: project, Pair: mapping.Pair{Issue: mapping.IssueID{ID: i + 1}}}
		obs = append(obs, store.Observation{Refs: l.Refs(), Create: l})
	}
	h.observed(rt, obs)
	h.compare(rt)
}

func (h *history) observe(rt *rapid.T) {
	var obs []store.Observation
	for range rapid.IntRange(1, 3).Draw(rt, "observations") {
		obs = append(obs, h.observation(rt))
	}
	h.observed(rt, obs)
}

func (h *history) observed(rt *rapid.T, obs []store.Observation) {
	h.each(rt, "Observe", func(ctx context.Context, _ *backEnd, s store.Store) any {
		seen, err := s.Observe(ctx, project, obs)
		if err != nil {
			rt.Fatal(err)
		}
		var kinds []string
		for _, o := range seen {
			kinds = append(kinds, kindOf(o.Err))
		}
		return []any{seen, kinds}
	})
}

func (h *history) observation(rt *rapid.T) store.Observation {
	o := store.Observation{Bulk: rapid.Bool().Draw(rt, "bulk"), Delay: anyDelay(rt, "delay")}
	for range rapid.IntRange(0, 2).Draw(rt, "refs") {
		o.Refs = append(o.Refs, anyRef(rt, "ref"))
	}
	if rapid.IntRange(0, 3).Draw(rt, "marker") == 0 {
		o.Link = h.anyLink(rt)
	}
	if rapid.Bool().Draw(rt, "snapshot") {
		o.Item, o.At = anyRef(rt, "item"), rapid.Int64Range(1, 3).Draw(rt, "at")
		o.Digest = rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "digest")
		o.Data = []byte(rapid.SampledFrom([]string{"", "data", "\x00,1"}).Draw(rt, "data"))
	}
	if rapid.Bool().Draw(rt, "event") {
		o.Event, o.Own = fmt.Appendf(nil, "event %d", h.now.Load()), rapid.Bool().Draw(rt, "own")
	}
	if n := rapid.IntRange(0, 5).Draw(rt, "delivery"); n > 2 {
		o.Delivery = fmt.Sprint(n)
	}
	if rapid.Bool().Draw(rt, "create") {
		h.links++
		o.Create = &mapping.Link{ID: mapping.LinkID(fmt.Sprint("l", h.links)), Project: project}
		dress(rt, o.Create)
	}
	return o
}

func (h *history) enqueue(rt *rapid.T) {
	key := store.Key{Project: project, Link: h.anyLink(rt)}
	delay, bulk := anyDelay(rt, "delay"), rapid.Bool().Draw(rt, "bulk")
	h.each(rt, "Enqueue", func(ctx context.Context, _ *backEnd, s store.Store) any {
		return kindOf(s.Enqueue(ctx, key, delay, bulk))
	})
}

// longestTTL is the longest lease.
const longestTTL = 30 * time.Minute

func anyTTL(rt *rapid.T) time.Duration {
	return rapid.SampledFrom([]time.Duration{time.Millisecond, time.Minute, 5 * time.Minute, longestTTL}).Draw(rt, "ttl")
}

func (h *history) claim(rt *rapid.T) {
	ttl := anyTTL(rt)
	h.claimed(h.each(rt, "Claim", func(ctx context.Context, b *backEnd, s store.Store) any {
		c, wait, err := s.Claim(ctx, project, ttl)
		return b.took(c, err, wait)
	}))
}

func (h *history) claimKey(rt *rapid.T) {
	key, ttl := store.Key{Project: project, Link: h.anyLink(rt)}, anyTTL(rt)
	h.claimed(h.each(rt, "ClaimKey", func(ctx context.Context, b *backEnd, s store.Store) any {
		c, err := s.ClaimKey(ctx, key, ttl)
		return b.took(c, err, 0)
	}))
}

// claimAnswer is a store's answer to a claim.
type claimAnswer struct {
	Claim *store.Claim
	Err   string
	Wait  time.Duration
}

// took records a store's claim.
func (b *backEnd) took(c *store.Claim, err error, wait time.Duration) claimAnswer {
	if c != nil {
		b.claims = append(b.claims, c)
	}
	return claimAnswer{c, kindOf(err), wait}
}

func (h *history) claimed(answer any) {
	if c := answer.(claimAnswer).Claim; c != nil {
		h.claims = append(h.claims, c.Key.Link)
	}
}

// anyClaim returns the number of a claim, mostly a late one.
func (h *history) anyClaim(rt *rapid.T) int {
	if len(h.claims) == 0 {
		rt.Skip("no claim yet")
	}
	return len(h.claims) - 1 - min(rapid.SampledFrom([]int{0, 0, 0, 0, 1, 1, 2, 3}).Draw(rt, "claim"), len(h.claims)-1)
}

func (h *history) check(rt *rapid.T) {
	n := h.anyClaim(rt)
	h.each(rt, "Check", func(ctx context.Context, b *backEnd, s store.Store) any { return kindOf(s.Check(ctx, b.claims[n])) })
}

// changed returns a claim's link with other items and words.
func (h *history) changed(rt *rapid.T, claim int) *mapping.Link {
	l := &mapping.Link{ID: h.claims[claim], Project: project}
	dress(rt, l)
	return l
}

func (h *history) save(rt *rapid.T) {
	n := h.anyClaim(rt)
	l := h.changed(rt, n)
	h.each(rt, "Save", func(ctx context.Context, b *backEnd, s store.Store) any { return kindOf(s.Save(ctx, b.claims[n], l)) })
}

// longReason is cut within a letter.
var longReason = "-" + strings.Repeat("ö", 700)

// longWork is an entry of which four exceed the bound of a history.
var longWork = strings.Repeat("<é", mapping.MaxHistoryBytes/30)

// ending is how a claim ends.
type ending struct {
	claim   int
	link    *mapping.Link
	history []mapping.Entry
	out     store.Outcome
}

func (h *history) ending(rt *rapid.T) ending {
	e := ending{claim: h.anyClaim(rt), out: store.Outcome{
		Kind:    rapid.SampledFrom([]store.OutcomeKind{store.Done, store.Done, store.Retry, store.Again, store.Wait, store.Wait, store.Wait, store.Park, store.Hold, store.Erase, store.Remove}).Draw(rt, "outcome"),
		After:   anyDelay(rt, "after"),
		Service: rapid.SampledFrom([]string{"github", "github", "planning:p"}).Draw(rt, "service"),
		Reason:  rapid.SampledFrom([]string{"", "words", longReason}).Draw(rt, "reason"),
		Unspent: rapid.Bool().Draw(rt, "unspent"),
	}}
	if rapid.Bool().Draw(rt, "changed") {
		e.link = h.changed(rt, e.claim)
	}
	for range rapid.IntRange(0, 2).Draw(rt, "entries") {
		e.history = append(e.history, mapping.Entry{At: h.Now().UTC(), What: rapid.SampledFrom([]string{"work", "work", longWork}).Draw(rt, "what"), Why: fmt.Sprint(len(e.history)) + longReason})
	}
	return e
}

func (h *history) finish(rt *rapid.T) {
	e := h.ending(rt)
	h.each(rt, "Finish", func(ctx context.Context, b *backEnd, s store.Store) any {
		return kindOf(s.Finish(ctx, b.claims[e.claim], e.link, e.history, e.out))
	})
}

func (h *history) finishAndClaim(rt *rapid.T) {
	e, ttl := h.ending(rt), anyTTL(rt)
	h.claimed(h.each(rt, "FinishAndClaim", func(ctx context.Context, b *backEnd, s store.Store) any {
		c, err := s.FinishAndClaim(ctx, b.claims[e.claim], e.link, e.history, e.out, ttl)
		return b.took(c, err, 0)
	}))
}

func (h *history) wake(rt *rapid.T) {
	if len(h.seen.Depth.Waiting) == 0 && rapid.IntRange(0, 9).Draw(rt, "none") > 0 {
		rt.Skip("nothing waits")
	}
	service := rapid.SampledFrom([]string{"github", "github", "planning:p", "planning"}).Draw(rt, "service")
	rate := rapid.SampledFrom([]float64{0, 1, 3, 0.7}).Draw(rt, "rate")
	h.each(rt, "Wake", func(ctx context.Context, _ *backEnd, s store.Store) any {
		n, err := s.Wake(ctx, project, service, rate)
		return fmt.Sprint(n, kindOf(err))
	})
}

func (h *history) repair(rt *rapid.T) {
	h.each(rt, "Repair", func(ctx context.Context, _ *backEnd, s store.Store) any { return kindOf(s.Repair(ctx, project)) })
}

// sessionIDs are few, so that one handle uses several in turn, and two handles the same.
var sessionIDs = []store.Session{"a", "b", "c"}

func (h *history) heartbeat(rt *rapid.T) {
	id, lasts := rapid.SampledFrom(sessionIDs).Draw(rt, "session"), anyTTL(rt)
	h.each(rt, "Heartbeat", func(ctx context.Context, _ *backEnd, s store.Store) any {
		fallen, err := s.Heartbeat(ctx, id, lasts)
		slices.Sort(fallen)
		return []any{fallen, kindOf(err)}
	})
}

func (h *history) endSessions(rt *rapid.T) {
	over := rapid.SliceOfN(rapid.SampledFrom(sessionIDs), 1, 2).Draw(rt, "over")
	h.each(rt, "EndSessions", func(ctx context.Context, _ *backEnd, s store.Store) any {
		keys, err := s.EndSessions(ctx, over)
		return fmt.Sprint(keys, kindOf(err))
	})
}
