package seen

import (
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/planning"
	"planbridge/mapping"
)

// spoken is the text of a backlog with each member of a card that is decoded, in several ways.
const spoken = `[{"bucket":"Incoming","id":{"$oid":"5447406bc955ca8169c61eb0"},"items":[
{"_id":{"$oid":"5447406bc955ca8169c61ef0"},"cid":12,"estimate":{"value":5,"version":1},"isStandaloneTP":false,
"iteration":{"value":{"$oid":"5447406bc955ca8169c61ea0"},"version":2},"iterationReview":{"value":"Approved","version":1},
"state":{"value":{"$oid":"5447406bc955ca8169c61eb1"},"version":3},"summary":{"value":{"markdown":"*hi* \u00e4","html":"<p><em>hi</em></p>"},"version":4},
"taskCounters":{"value":{"done":1,"todo":2.5,"inProgress":1.0,"total":2,"status":"in-progress"},"version":6},"title":{"value":"A \"card\"","version":7},"version":9},
{"_id":"5447406bc955ca8169c61ef1","cid":"13","estimate":{"value":"0.50","version":"1"},"isStandaloneTP":true,"iteration":null,"iterationReview":{"value":null,"version":0},
"state":{"value":"in-progress","version":3},"summary":{"value":{"html":"<p>one<br>two &amp; <a href=\"https://example.com\">three</a></p>"},"version":4},
"taskCounters":{"value":null,"version":0},"title":"Bare","tasks":[{"_id":"5447406bc955ca8169c61ef2","title":{"value":"T","version":1}}],"version":9},
{"_id":"5447406bc955ca8169c61ef3","cid":null,"estimate":{"value":"many","version":1},"summary":{"value":"plain","version":1},"title":{"value":null,"version":0}}]}]`

// backlogText answers each request with a text, without a network.
type backlogText string

func (a backlogText) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a))), Header: http.Header{}, Request: r}, nil
}

// TestTextForm: a change of how a card is decoded, or of what its digest is of, shows here.
// The text of a card that was taken in before then says another digest: textForm has to rise
// with it.
func TestTextForm(t *testing.T) {
	client, err := planning.New(planning.Options{BaseURL: "https://planning.test", Project: "p", Secret: "secret", HTTPClient: &http.Client{Transport: backlogText(spoken)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	var got []string
	err = client.BacklogEach(t.Context(), func(_ mapping.ObjectID, _ string, c mapping.Card) error {
		got = append(got, mapping.DigestCard(WithoutTasks(&c)))
		return nil
	})
	if want := []string{"2f517b94cf0b99fb", "86afdff865e8c2d9", "dc2598b1eb63bfe6"}; err != nil || textForm != 1 || !slices.Equal(got, want) {
		t.Errorf("digests %q with the form %d, %v", got, textForm, err)
	}
}

// TestStamp: a mark tells an entry's stamp again, and one that belongs to another digest is
// none.
func TestStamp(t *testing.T) {
	newCache := func() *Cache {
		return New("cards", 0)
	}
	b := KnownBucket{Bucket{"b", "Incoming"}, "state"}
	for _, routes := range [][]string{nil, {"web"}, {"web", "other"}} {
		k := Entry{Digest: "0123456789abcdef", Routes: routes, Text: 1 << 63, Told: true, Version: 12, Versions: [4]int64{1, -2, 0, 1 << 40}, Bucket: &b}
		m, got := newCache(), Entry{Digest: k.Digest}
		_, marked, _ := strings.Cut(k.Mark(), " ")
		m.takeRoutes(&got, marked)
		want := k
		want.Bucket = &KnownBucket{StateID: "state"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q became %+v, want %+v", k.Mark(), got, want)
		}
		other := Entry{Digest: "fedcba9876543210"}
		m.takeRoutes(&other, marked)
		if other.Text != 0 || other.Told || !reflect.DeepEqual(other.Routes, routes) {
			t.Errorf("%q of another digest became %+v", k.Mark(), other)
		}
	}
	spoilt := Entry{Digest: "0123456789abcdef"}
	newCache().takeRoutes(&spoilt, "web\x1f"+stampSign+"012345 x y z")
	if spoilt.Text != 0 || !reflect.DeepEqual(spoilt.Routes, []string{"web"}) {
		t.Errorf("a spoilt stamp became %+v", spoilt)
	}
}
