package redisstore

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// TestHistoryIsBoundedInRedis: what Redis keeps of a history is bounded, not only what is
// shown of it.
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
