package planning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"planbridge/mapping"
)

func TestBacklogShapes(t *testing.T) {
	card := func(id, bucket, name string) mapping.Card {
		return mapping.Card{ID: mapping.ObjectID(id), Bucket: mapping.ObjectID(bucket), BucketName: name}
	}
	two := []BucketItems{{"b1", "In", []mapping.Card{card("c1", "b1", "In"), card("c2", "b1", "In")}}, {"b2", "Out", nil}}
	for name, tt := range map[string]struct {
		body string
		want []BucketItems
	}{
		"as documented":    {`[{"bucket":"In","id":{"$oid":"b1"},"items":[{"_id":"c1"},{"_id":"c2"}]},{"bucket":"Out","id":"b2","items":[]}]`, two},
		"items first":      {`[{"items":[{"_id":"c1"},{"_id":"c2"}],"id":"b1","bucket":"In"},{"items":[],"bucket":"Out","id":"b2"}]`, two},
		"items in between": {`[{"id":"b1","items":[{"_id":"c1"},{"_id":"c2"}],"bucket":"In"},{"id":"b2","items":null,"bucket":"Out"}]`, two},
		"other names": {`[{"_id":{"$oid":"b1"},"title":"In","x":{"items":[1]},"items":[{"_id":"c1"},{"_id":"c2"}],"y":[]},
			{"title":"Out","id":"b2"}]`, two},
		"no name": {`[{"id":"b1","items":[{"_id":"c1"}]}]`, []BucketItems{{"b1", "", []mapping.Card{card("c1", "b1", "")}}}},
		"empty":   {` [ ] `, nil},
	} {
		c, _ := serve(t, answering(200, tt.body))
		got, err := c.Backlog(ctx())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		var each []mapping.Card
		err = c.BacklogEach(ctx(), func(id mapping.ObjectID, title string, card mapping.Card) error {
			if id != card.Bucket || title != card.BucketName {
				t.Errorf("%s: card of %q %q visited in %q %q", name, card.Bucket, card.BucketName, id, title)
			}
			each = append(each, card)
			return nil
		})
		var all []mapping.Card
		for _, b := range tt.want {
			all = append(all, b.Cards...)
		}
		if diff := cmp.Diff(all, each); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

func TestBacklogRefused(t *testing.T) {
	deep := strings.Repeat("[", 1<<20)
	for _, body := range []string{
		`{}`, `[[]]`, `[{"id":"b","items":{}}]`, `[{"id":"b","items":[1]}]`, `[{"id":"b","items":[{}]}]`, `[{"items":[]}]`,
		`[{"id":"b","items":[{"_id":"c"}]}`, `[{"id":"b","items":[{"_id":"c"}`, `[{"id":"b","items":[{"_id":"c"} {"_id":"d"}]}]`,
		`[{"id":"b","items":[{"_id":"c"},]}]`, `[{"id":"b" "items":[]}]`, `[] []`, `[]x`, `[{"id":"b"],"items":[}]`,
		`[{"id":"b","x":` + deep, `[{"id":"b","items":[{"_id":"c","x":` + deep,
	} {
		c, _ := serve(t, answering(200, body))
		_, err := c.Backlog(ctx())
		wantFault(t, err, mapping.ErrUnavailable)
		if len(body) < 100 {
			t.Log(err)
		}
	}
}

// A listing that is cut is an error, is not repeated, and keeps its visits.
func TestBacklogCut(t *testing.T) {
	c, rec := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `[{"bucket":"In","id":"b","items":[{"_id":"c1"},`) //nolint:errcheck // a test server
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	visits := 0
	err := c.BacklogEach(ctx(), func(mapping.ObjectID, string, mapping.Card) error { visits++; return nil })
	wantFault(t, err, mapping.ErrUnavailable)
	if n := len(rec.requests()); visits != 1 || n != 1 {
		t.Errorf("%d visits by %d requests, want one each", visits, n)
	}
	if !isOutage(err) {
		t.Errorf("%v must count as an outage", err)
	}
}

// Before anything was visited, the listing is asked for again.
func TestBacklogRetried(t *testing.T) {
	asked := 0
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(502)
			return
		}
		answering(200, `[]`)(w, r)
	})
	if _, err := c.Backlog(ctx()); err != nil || asked != 3 {
		t.Errorf("%v after %d requests", err, asked)
	}
}

// The visitor's own error comes back as it is and is nobody's outage.
func TestBacklogVisitorStops(t *testing.T) {
	c, rec := serve(t, answering(200, `[{"bucket":"In","id":"b","items":[{"_id":"c1"},{"_id":"c2"}]}]`),
		func(o *Options) { o.BreakerAfter = 1 })
	stop := errors.New("enough")
	err := c.BacklogEach(ctx(), func(mapping.ObjectID, string, mapping.Card) error { return stop })
	if !errors.Is(err, stop) || errors.Is(err, mapping.ErrUnavailable) || c.Down() || len(rec.requests()) != 1 {
		t.Errorf("%v, down %v, %d requests", err, c.Down(), len(rec.requests()))
	}
}

func TestBacklogCancelled(t *testing.T) {
	c, _ := serve(t, answering(200, `[{"bucket":"In","id":"b","items":[`+manyCards(1000)+`]}]`), func(o *Options) { o.BreakerAfter = 1 })
	ctx, cancel := context.WithCancel(ctx())
	err := c.BacklogEach(ctx, func(mapping.ObjectID, string, mapping.Card) error { cancel(); return nil })
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if c.Down() {
		t.Error("a caller that leaves is no outage")
	}
}

func TestBacklogBound(t *testing.T) {
	b := &bounded{r: strings.NewReader(strings.Repeat("x", 100)), left: 10}
	got, err := io.ReadAll(b)
	if len(got) != 10 || !errors.Is(err, errBound) || !strings.Contains(err.Error(), "256 MiB") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func manyCards(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.Replace(fullCard, cardID, fmt.Sprintf("%024x", i), 1))
	}
	return b.String()
}

// Memory does not grow with the number of cards.
func TestBacklogStreams(t *testing.T) {
	const cards, repeats = 500, 60
	part := manyCards(cards)
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `[{"bucket":"In","id":"b","items":[`+part) //nolint:errcheck // a test server
		for range repeats - 1 {
			io.WriteString(w, ","+part) //nolint:errcheck // a test server
		}
		io.WriteString(w, `]}]`) //nolint:errcheck // a test server
	})
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	visits, most := 0, uint64(0)
	err := c.BacklogEach(ctx(), func(mapping.ObjectID, string, mapping.Card) error {
		if visits++; visits%(cards*10) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
		return nil
	})
	if err != nil || visits != cards*repeats {
		t.Fatalf("%d visits, %v", visits, err)
	}
	if body := uint64(len(part) * repeats); most > before.HeapAlloc+body/8 {
		t.Errorf("heap grew from %d to %d for a body of %d", before.HeapAlloc, most, body)
	}
}
