package poll

import (
	"testing"

	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
)

// TestUnchangedDoesNotAllocate: the calls for each of 100,000 cards in each round.
func TestUnchangedDoesNotAllocate(t *testing.T) {
	c := mapping.Card{ID: "a", Bucket: "b", BucketName: "Incoming", Summary: mapping.Versioned{Value: "text"}}
	m := seen.New(SetCards, 1)
	m.Put(c.ID, seen.Entry{Digest: mapping.DigestCard(&c), Quick: m.QuickCard(&c)})
	r := &round{Poller: &Poller{memory: memory{cards: m}}, roles: map[seen.Bucket]bucketRole{}}
	n := testing.AllocsPerRun(100, func() {
		if !r.unchanged(t.Context(), &c, backlogListing) {
			t.Error("it changed")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
