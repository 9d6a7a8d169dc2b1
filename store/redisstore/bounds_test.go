package redisstore

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// TestHistoryIsBoundedInRedis: Redis's own copy of a history is bounded, and not only the shown
// part.
func TestHistoryIsBoundedInRedis(t *testing.T) {
	b := spoilt(t)
	_, err := b.Observe(t.Context(), "p", []store.Observation{seen(1)})
	must(t, err)
	key := store.Key{Project: "p", Link: issueLink(1).ID}
	for n := range 200 {
		c, err := b.ClaimKey(t.Context(), key, time.Minute)
		must(t, err)
		var what strings.Builder
		for i := range 64 {
			fmt.Fprintf(&what, "%x", sha256.Sum256(fmt.Appendf(nil, "%d %d", n, i)))
		}
		must(t, b.Finish(t.Context(), c, nil, []mapping.Entry{{What: what.String()}}, store.Outcome{}))
	}
	kept, err := b.raw.HGet(t.Context(), b.key("l:"+string(key.Link)), "h").Result()
	must(t, err)
	if most := historyFrames + 4096; len(kept) > most || len(kept) < mapping.MaxHistoryBytes/4 {
		t.Errorf("Redis keeps %d bytes of history, want %d at most", len(kept), most)
	}
}

// TestHistoryTakesFewFrames: the entries of many claims are kept together, in less than a third of
// what each takes alone. Old ones lack the delivery, which nothing remembers any more. Else
// people see the same of it, also where an erasure comes between.
func TestHistoryTakesFewFrames(t *testing.T) {
	b := spoilt(t)
	_, err := b.Observe(t.Context(), "p", []store.Observation{seen(1)})
	must(t, err)
	key := store.Key{Project: "p", Link: issueLink(1).ID}
	var want []mapping.Entry // newest first
	now, alone := time.Now().UTC().Truncate(time.Millisecond).Add(-144*time.Hour), 0
	work := func(n int, kind store.OutcomeKind) {
		t.Helper()
		c, err := b.ClaimKey(t.Context(), key, time.Minute)
		must(t, err)
		entry := mapping.Entry{At: now.Add(time.Duration(n) * time.Hour), Side: mapping.Planning, Attribute: mapping.Title, What: "write", Why: "changed on GitHub since both sides last agreed", Delivery: mapping.NewID()}
		data, err := encode([]mapping.Entry{entry})
		must(t, err)
		alone += len(data)
		must(t, b.Finish(t.Context(), c, nil, []mapping.Entry{entry}, store.Outcome{Kind: kind}))
		must(t, b.Finish(t.Context(), c, nil, []mapping.Entry{entry}, store.Outcome{Kind: kind})) // its answer was lost
		if kind == store.Erase {
			want, alone = nil, len(data)
		}
		want = append([]mapping.Entry{entry}, want...)
		want = want[:min(len(want), mapping.MaxHistory)]
		got, err := b.History(t.Context(), key, 1000)
		must(t, err)
		if !slices.EqualFunc(got, want, func(got, want mapping.Entry) bool {
			if got.Delivery == "" && time.Since(want.At) > rules.Deliveries {
				want.At, want.Delivery = want.At.Truncate(time.Second), ""
			}
			return got == want
		}) {
			t.Fatalf("after %d claims the history is\n%+v, want\n%+v", n, got, want)
		}
	}
	kept := func() string {
		t.Helper()
		value, err := b.raw.HGet(t.Context(), b.key("l:"+string(key.Link)), "h").Result()
		must(t, err)
		return value
	}
	for n := range 46 {
		work(n+1, store.Done)
	}
	if size := len(kept()); 3*size > alone {
		t.Errorf("46 entries take %d bytes, %d if each stands alone: want a third of it at most", size, alone)
	}
	for n := range 96 {
		work(n+47, store.Done)
	}
	list, err := frames(kept(), func(n int, _ string) (int, error) { return n, nil })
	must(t, err)
	if len(list) > 9 {
		t.Errorf("the history is in %d frames, of %v entries, want at most 9", len(list), list)
	}
	work(143, store.Erase)
	work(144, store.Done)
}

// TestUnreadableHistoryIsLeft: a history that cannot be read keeps nothing from being worked.
func TestUnreadableHistoryIsLeft(t *testing.T) {
	b := spoilt(t)
	_, err := b.Observe(t.Context(), "p", []store.Observation{seen(1)})
	must(t, err)
	key := store.Key{Project: "p", Link: issueLink(1).ID}
	was := strings.Repeat("1,2;xx", 9)
	must(t, b.raw.HSet(t.Context(), b.key("l:"+string(key.Link)), "h", was).Err())
	c, err := b.ClaimKey(t.Context(), key, time.Minute)
	must(t, err)
	must(t, b.Finish(t.Context(), c, nil, []mapping.Entry{{What: "write"}}, store.Outcome{}))
	kept, err := b.raw.HGet(t.Context(), b.key("l:"+string(key.Link)), "h").Result()
	must(t, err)
	if list, err := frames(kept, func(n int, _ string) (int, error) { return n, nil }); err != nil || len(list) != 10 || !strings.HasPrefix(kept, was) {
		t.Errorf("it is %q now, %v", kept, err)
	}
}
