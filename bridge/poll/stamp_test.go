package poll

import (
	"reflect"
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestTextForm: a change of what a card's digest is of shows here. The text of a card that
// was taken in before then says another digest: textForm has to rise with it.
func TestTextForm(t *testing.T) {
	c := mapping.Card{ID: "a", CID: 1, Version: 2, Title: mapping.Versioned{Value: "Title", Version: 3}, Counters: &mapping.Counters{Todo: 1}}
	if got := mapping.DigestCard(&c); textForm != 1 || got != "faf25781c670ce4f" {
		t.Errorf("digest %s with the form %d", got, textForm)
	}
}

// TestStamp: a mark tells an entry's stamp again, and one that belongs to another digest is
// none.
func TestStamp(t *testing.T) {
	newCache := func() *cardCache {
		return &cardCache{buckets: map[knownBucket]*knownBucket{}, routes: map[string][]string{}}
	}
	b := knownBucket{"b", "Incoming", "state"}
	for _, routes := range [][]string{nil, {"web"}, {"web", "other"}} {
		k := cacheEntry{digest: "0123456789abcdef", routes: routes, raw: 1 << 63, told: true, version: 12, versions: [4]int64{1, -2, 0, 1 << 40}, bucket: &b}
		m, got := newCache(), cacheEntry{digest: k.digest}
		_, marked, _ := strings.Cut(k.mark(), " ")
		m.takeRoutes(&got, marked)
		want := k
		want.bucket = &knownBucket{stateID: "state"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q became %+v, want %+v", k.mark(), got, want)
		}
		other := cacheEntry{digest: "fedcba9876543210"}
		m.takeRoutes(&other, marked)
		if other.raw != 0 || other.told || !reflect.DeepEqual(other.routes, routes) {
			t.Errorf("%q of another digest became %+v", k.mark(), other)
		}
	}
	spoilt := cacheEntry{digest: "0123456789abcdef"}
	newCache().takeRoutes(&spoilt, "web\x1f"+stampSign+"012345 x y z")
	if spoilt.raw != 0 || !reflect.DeepEqual(spoilt.routes, []string{"web"}) {
		t.Errorf("a spoilt stamp became %+v", spoilt)
	}
}
