package reconcile

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
)

// Keys of an import wait for those of its keys that will have a card made next,
// and for no others.
func TestMoreToCome(t *testing.T) {
	const project = "p"
	for name, tt := range map[string]struct {
		is   func(t *testing.T, r *Reconciler)
		want bool
	}{
		"nothing":              {func(*testing.T, *Reconciler) {}, false},
		"a key is due":         {func(t *testing.T, r *Reconciler) { queue(t, r, 1, 0, true) }, true},
		"a live key is due":    {func(t *testing.T, r *Reconciler) { queue(t, r, 1, 0, false) }, false},
		"keys that were shown": {func(t *testing.T, r *Reconciler) { queue(t, r, 3, time.Second, true) }, false},
		"all are worked": {func(t *testing.T, r *Reconciler) {
			queue(t, r, 1, 0, true)
			if _, _, err := r.Store.Claim(t.Context(), project, time.Minute); err != nil {
				t.Fatal(err)
			}
		}, false},
		"an import lists":     {func(t *testing.T, r *Reconciler) { importing(t, r, time.Second) }, true},
		"an import that died": {func(t *testing.T, r *Reconciler) { importing(t, r, -time.Second) }, false},
		"one was put off":     {func(_ *testing.T, r *Reconciler) { r.crowded.Store(time.Now().Add(time.Second).UnixNano()) }, true},
		"others are full, and none is made": {func(t *testing.T, r *Reconciler) {
			queue(t, r, 1, 0, true)
			fill(r)
		}, false},
		"others are full, and one is made": {func(t *testing.T, r *Reconciler) {
			queue(t, r, 1, 0, true)
			fill(r)
			r.turnOf(project) <- struct{}{}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close() //nolint:errcheck // the file is thrown away
				r := New(Options{Store: s})
				tt.is(t, r)
				if got := r.moreBulk(t.Context(), project); got != tt.want {
					t.Errorf("more is to come: %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func queue(t *testing.T, r *Reconciler, n int, delay time.Duration, bulk bool) {
	t.Helper()
	var obs []store.Observation
	for i := range n {
		link := &mapping.Link{ID: mapping.LinkID(fmt.Sprint("link", i)), Project: "p", State: mapping.Linked}
		obs = append(obs, store.Observation{Create: link, Delay: delay, Bulk: bulk})
	}
	if _, err := r.Store.Observe(t.Context(), "p", obs); err != nil {
		t.Fatal(err)
	}
}

func importing(t *testing.T, r *Reconciler, left time.Duration) {
	t.Helper()
	text, err := time.Now().Add(left).MarshalText()
	if err == nil {
		err = r.Store.PutDoc(t.Context(), "p", store.DocImporting, text)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func fill(r *Reconciler) {
	for range cap(r.gathered) {
		r.gathered <- struct{}{}
	}
}
