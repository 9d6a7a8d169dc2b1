package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
)

// bad is a store in which somebody spoils what is stored.
type bad struct {
	*testing.T
	*Store
	raw     *redis.Client
	scripts atomic.Int64
}

func spoilt(t *testing.T) *bad {
	t.Helper()
	server := redistest.Start(t)
	b := &bad{T: t}
	s, err := Open(t.Context(), Options{URL: server.URL, Hook: b})
	must(t, err)
	opt, err := redis.ParseURL(server.URL)
	must(t, err)
	b.Store, b.raw = s, redis.NewClient(opt)
	t.Cleanup(func() { must(t, s.Close()); must(t, b.raw.Close()) })
	return b
}

func (b *bad) DialHook(next redis.DialHook) redis.DialHook { return next }
func (b *bad) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		b.scripts.Add(1)
		return next(ctx, cmd)
	}
}

func (b *bad) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (b *bad) do(args ...any) { must(b, b.raw.Do(b.Context(), args...).Err()) }

func (b *bad) key(name string) string { return "planbridge:{p}:" + name }

// seen is an observation of the n-th issue, which makes its link.
func seen(n int) store.Observation {
	l := issueLink(n)
	ref := mapping.IssueRef(int64(n))
	return store.Observation{Refs: []mapping.Ref{ref}, Create: l, Item: ref, At: 1, Digest: "d", Data: []byte("data"), Event: []byte("e")}
}

func (b *bad) observe(obs ...store.Observation) []store.Observed {
	b.Helper()
	got, err := b.Observe(b.Context(), "p", obs)
	must(b, err)
	return got
}

// drain claims until nothing is due, and returns the links in any order.
func (b *bad) drain() map[mapping.LinkID]bool {
	b.Helper()
	out := map[mapping.LinkID]bool{}
	for {
		c, _, err := b.Claim(b.Context(), "p", time.Minute)
		must(b, err)
		if c == nil {
			return out
		}
		out[c.Key.Link] = true
		for c != nil {
			c, err = b.FinishAndClaim(b.Context(), c, nil, nil, store.Outcome{}, time.Minute)
			must(b, err)
			if c != nil {
				out[c.Key.Link] = true
			}
		}
	}
}

// TestALinkThatCannotBeReadIsParkedAlone: one without a record, and one whose record
// or snapshot is spoilt.
func TestALinkThatCannotBeReadIsParkedAlone(t *testing.T) {
	b := spoilt(t)
	for n := range 6 {
		b.observe(seen(n + 1))
	}
	b.do("HDEL", b.key("l:l2"), "r")
	b.do("HSET", b.key("l:l3"), "r", "0no JSON")
	b.do("HSET", b.key("l:l4"), "i:issue:4", "short")
	b.do("DEL", b.key("l:l5"))
	if got := b.drain(); len(got) != 2 || !got["l1"] || !got["l6"] {
		t.Errorf("worked were %v, want l1 and l6", got)
	}
	fs, err := b.Failures(t.Context(), "p", 10)
	must(t, err)
	if len(fs) != 3 {
		t.Errorf("failures %+v, want three", fs)
	}
	for _, f := range fs {
		if !strings.Contains(f.Reason, "cannot be read") || f.Where == "" {
			t.Errorf("failure %+v", f)
		}
	}
	links, _, err := b.List(t.Context(), "p", "", 100)
	if err != nil || len(links) != 3 {
		t.Errorf("List = %d links, %v, want the three whose records can be read", len(links), err)
	}
}

// TestOneBadKeyCostsAGroupOfObservationsNoOther: a ref that leads nowhere is
// forgotten, and what a script fails on is the failure of that observation.
func TestOneBadKeyCostsAGroupOfObservationsNoOther(t *testing.T) {
	b := spoilt(t)
	b.observe(seen(1), seen(2), seen(3))
	b.drain()
	b.do("DEL", b.key("l:l1"))
	first := seen(1)
	first.At, first.Create = 2, issueLink(11)
	first.Create.Issue.ID = 1
	if got := b.observe(first, seen(3)); got[0].Err != nil || !got[0].Created || got[0].Key.Link != "l11" || got[1].Err != nil {
		t.Errorf("with a ref that leads nowhere: %+v", got)
	}
	b.do("DEL", b.key("e:l2"))
	b.do("SET", b.key("e:l2"), "no list")
	again := []store.Observation{seen(1), seen(2), seen(3), seen(4)}
	for i := range again {
		again[i].At, again[i].Create = 2, issueLink(i+11)
		again[i].Create.Issue.ID = int64(i + 1)
	}
	got := b.observe(again...)
	if got[0].Err != nil || got[0].Key.Link != "l11" {
		t.Errorf("of a key before it: %+v", got[0])
	}
	if !errors.Is(got[1].Err, store.ErrSpoilt) {
		t.Errorf("of a key that a script fails on: %+v", got[1])
	}
	if got[2].Err != nil || got[2].Key.Link != "l3" || got[3].Err != nil || got[3].Key.Link != "l14" {
		t.Errorf("the others: %+v, %+v", got[2], got[3])
	}
	if worked := b.drain(); !worked["l11"] || !worked["l3"] || !worked["l14"] {
		t.Errorf("worked were %v", worked)
	}
	b.do("ZADD", b.key("wait"), "0", "github\x000lost")
	if _, err := b.Wake(t.Context(), "p", "github", 0); err != nil {
		t.Errorf("Wake with a key that there is not: %v", err)
	}
}

// TestAFinishConsumesAnyNumberOfSnapshots: Lua unpacks less than 8,000 values.
func TestAFinishConsumesAnyNumberOfSnapshots(t *testing.T) {
	b := spoilt(t)
	b.observe(seen(1))
	const items = 5000
	var obs []store.Observation
	for n := range items {
		obs = append(obs, store.Observation{Link: "l1", Item: mapping.TaskRef(mapping.ObjectID(fmt.Sprint("t", n))), At: 1, Digest: "d", Data: []byte("x")})
	}
	b.observe(obs...)
	c, _, err := b.Claim(t.Context(), "p", time.Minute)
	must(t, err)
	if len(c.Inbox) != items+1 {
		t.Fatalf("the claim carries %d snapshots", len(c.Inbox))
	}
	must(t, b.Finish(t.Context(), c, nil, nil, store.Outcome{}))
	c, err = b.ClaimKey(t.Context(), c.Key, time.Minute)
	must(t, err)
	if len(c.Inbox) != 0 {
		t.Errorf("%d snapshots are left", len(c.Inbox))
	}
}

// TestMarksAreReadInPages: Redis answers others between two of them.
func TestMarksAreReadInPages(t *testing.T) {
	b := spoilt(t)
	const many = 20_000
	marks := map[string]string{}
	for n := range many {
		marks[fmt.Sprint("card", n)] = fmt.Sprint("mark ", n)
	}
	must(t, b.PutMarks(t.Context(), "p", "cards", marks))
	before := b.scripts.Load()
	got, err := b.Marks(t.Context(), "p", "cards")
	must(t, err)
	if n := b.scripts.Load() - before; n < many/scanPage/2 {
		t.Errorf("%d marks were read by %d scripts", many, n)
	}
	if text := store.MarkTexts(got)["card7"]; len(got) != many || text != "mark 7" {
		t.Errorf("read %d marks, %q", len(got), text)
	}
	if none, err := b.Marks(t.Context(), "p", "none"); err != nil || len(none) != 0 {
		t.Errorf("Marks of none = %v, %v", none, err)
	}
}
