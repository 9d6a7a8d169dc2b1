package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/mapping"
	"planbridge/store"
)

// Keys of an import wait for those of its keys that get a card next, and for no others.
func TestMoreToCome(t *testing.T) {
	const project = "p"
	for name, tt := range map[string]struct {
		is   func(t *testing.T, b *batches)
		want bool
	}{
		"nothing":              {func(*testing.T, *batches) {}, false},
		"a key is due":         {func(t *testing.T, b *batches) { queue(t, b, 1, 0, true) }, true},
		"a live key is due":    {func(t *testing.T, b *batches) { queue(t, b, 1, 0, false) }, false},
		"keys that were shown": {func(t *testing.T, b *batches) { queue(t, b, 3, time.Second, true) }, false},
		"all are worked": {func(t *testing.T, b *batches) {
			queue(t, b, 1, 0, true)
			if _, _, err := b.store.Claim(t.Context(), project, time.Minute); err != nil {
				t.Fatal(err)
			}
		}, false},
		"an import lists":     {func(t *testing.T, b *batches) { importing(t, b, time.Second) }, true},
		"an import that died": {func(t *testing.T, b *batches) { importing(t, b, -time.Second) }, false},
		"one was put off":     {func(_ *testing.T, b *batches) { b.crowdedUntil.Store(time.Now().Add(time.Second).UnixNano()) }, true},
		"others are full, and none is made": {func(t *testing.T, b *batches) {
			queue(t, b, 1, 0, true)
			fill(b)
		}, false},
		"others are full, and one is made": {func(t *testing.T, b *batches) {
			queue(t, b, 1, 0, true)
			fill(b)
			b.turn(project) <- struct{}{}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBatches(newStore(), clock.Runtime{}, nil)
				tt.is(t, b)
				if got := b.more(t.Context(), project); got != tt.want {
					t.Errorf("more is to come: %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func queue(t *testing.T, b *batches, n int, delay time.Duration, bulk bool) {
	t.Helper()
	var obs []store.Observation
	for i := range n {
		link := &mapping.Link{ID: mapping.LinkID(fmt.Sprint("link", i)), Project: "p", Pair: mapping.Pair{State: mapping.Linked}}
		obs = append(obs, store.Observation{Create: link, Delay: delay, Bulk: bulk})
	}
	if _, err := b.store.Observe(t.Context(), "p", obs); err != nil {
		t.Fatal(err)
	}
}

func importing(t *testing.T, b *batches, left time.Duration) {
	t.Helper()
	text, err := time.Now().Add(left).MarshalText()
	if err == nil {
		err = b.store.PutDoc(t.Context(), "p", store.DocImporting, text)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func fill(b *batches) {
	for range cap(b.waiting) {
		b.waiting <- struct{}{}
	}
}
