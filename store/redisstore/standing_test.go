package redisstore

import (
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore/redistest"
	"planbridge/store/storetest"
)

// TestStandingsOfEarlierPrograms: a program that keeps no reasons may have put a key
// where it stands, and leaves what a newer one kept.
func TestStandingsOfEarlierPrograms(t *testing.T) {
	b := spoilt(t)
	end := func(n int, out store.Outcome) {
		b.observe(seen(n))
		c, _, err := b.Claim(t.Context(), "p", time.Minute)
		must(t, err)
		must(t, b.Finish(t.Context(), c, nil, nil, out))
	}
	end(1, store.Outcome{Kind: store.Wait, Service: "github", Reason: "it is away"})
	b.do("HDEL", b.key("l:l1"), "y")
	end(2, store.Outcome{Kind: store.Again, After: time.Hour, Reason: "it is late"})
	b.do("ZADD", b.key("live"), time.Now().Add(2*time.Hour).UnixMilli(), "l2")
	for id, want := range map[mapping.LinkID]struct {
		state  store.KeyState
		reason string
	}{
		"l1": {store.KeyWaiting, "it waits for github"},
		"l2": {store.KeyLater, "a moment ago"},
	} {
		at, err := b.Standing(t.Context(), store.Key{Project: "p", Link: id})
		must(t, err)
		if at.State != want.state || !strings.Contains(at.Reason, want.reason) {
			t.Errorf("%s stands as %+v, want %+v", id, at, want)
		}
	}
	if at, err := b.Standing(t.Context(), store.Key{Project: "p", Link: "l1"}); err != nil || !at.At.IsZero() {
		t.Errorf("since when it waits is told as %v, %v, though nobody noted it", at.At, err)
	}
}

// TestAClaimEndsTheReason: a reason belongs to the time that it came with, and to none
// that happens to be the same.
func TestAClaimEndsTheReason(t *testing.T) {
	server := redistest.Start(t)
	now := time.Now()
	s := open(t, Options{URL: server.URL, Clock: storetest.Clock(func() time.Time { return now })})
	l := &mapping.Link{ID: "l1", Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: 1}}}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Refs: l.Refs(), Create: l}}); err != nil {
		t.Fatal(err)
	}
	for _, out := range []store.Outcome{{Kind: store.Retry, Reason: "it is late"}, {Kind: store.Wait, Service: "github", Reason: "it is away"}} {
		c, err := s.ClaimKey(t.Context(), store.Key{Project: "p", Link: "l1"}, time.Minute)
		must(t, err)
		must(t, s.Finish(t.Context(), c, nil, nil, out))
		c, err = s.ClaimKey(t.Context(), store.Key{Project: "p", Link: "l1"}, time.Minute)
		must(t, err)
		must(t, s.Dump(t.Context(), func(e store.Entry) error {
			if r := e.Record; r != nil && (r.Place != store.Queued || r.Reason != "") {
				t.Errorf("a claimed key is dumped as %s: %q", r.Place, r.Reason)
			}
			return nil
		}))
		must(t, s.Finish(t.Context(), c, nil, nil, store.Outcome{}))
	}
}
