package poll_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"planbridge/bridge/planning"
	"planbridge/bridge/poll"
	"planbridge/mapping"
)

// backlogOnly is the planning client with no sprints.
type backlogOnly struct{ *planning.Client }

func (backlogOnly) Sprints(context.Context) ([]poll.Sprint, error) { return nil, nil }
func (backlogOnly) SprintItems(context.Context, mapping.ObjectID) ([]mapping.Card, []mapping.Task, error) {
	return nil, nil, nil
}

// BenchmarkUnchanged polls 100,000 unchanged cards, beside the client alone,
// which decodes the same answer and does nothing with it.
func BenchmarkUnchanged(b *testing.B) {
	backlog := backlogOf()
	client, err := planning.New(planning.Options{BaseURL: "https://planning.test", Project: project, Secret: "secret", HTTPClient: &http.Client{Transport: answer(backlog)}})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(backlog)))
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			err := client.BacklogEach(b.Context(), func(mapping.ObjectID, string, mapping.Card) error { n++; return nil })
			if err != nil || n != benchCards {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("poll", func(b *testing.B) {
		w := newWorld(b)
		w.options.Planning = backlogOnly{client}
		w.restart()
		w.poll()
		b.SetBytes(int64(len(backlog)))
		b.ReportAllocs()
		for b.Loop() {
			w.poll()
		}
	})
}

// answer answers each request with a body, without a network.
type answer []byte

func (a answer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(a)), Header: http.Header{}, Request: r}, nil
}

const benchCards = 100_000

// backlogOf is the answer of a project with so many cards, 1 KiB or so each.
func backlogOf() []byte {
	var b bytes.Buffer
	b.WriteString(`[{"bucket":"Incoming","id":{"$oid":"b1"},"items":[`)
	text := strings.Repeat("Something has to be done about this. ", 16)
	for i := range benchCards {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"_id":{"$oid":"54744060c955ca8169%06d"},"cid":%d,"version":7,"estimate":{"value":3,"version":1},`+
			`"isStandaloneTP":false,"iteration":{"value":null,"version":0},"state":{"value":{"$oid":"b1"},"version":0},`+
			`"order":{"value":"000000001.0","version":0},"taskCounters":{"value":null,"version":0},`+
			`"title":{"value":"Card %d","version":2},"summary":{"value":{"markdown":"%s","html":"<p>%d</p>"},"version":3},"_order":%d}`,
			i, i, i, text, i, i)
	}
	b.WriteString("]}]")
	return b.Bytes()
}
