package planning

import (
	"bytes"
	"testing"

	"github.com/goccy/go-json"

	"planbridge/mapping"
)

// peerCard decodes what the client decodes, without its tolerance.
type peerCard struct {
	ID struct {
		OID string `json:"$oid"`
	} `json:"_id"`
	CID     int64 `json:"cid"`
	Version int64 `json:"version"`
	Title   struct {
		Value   string `json:"value"`
		Version int64  `json:"version"`
	} `json:"title"`
	Summary struct {
		Value struct {
			Markdown string `json:"markdown"`
		} `json:"value"`
		Version int64 `json:"version"`
	} `json:"summary"`
	Estimate struct {
		Value   *float64 `json:"value"`
		Version int64    `json:"version"`
	} `json:"estimate"`
	State struct {
		Value struct {
			OID string `json:"$oid"`
		} `json:"value"`
		Version int64 `json:"version"`
	} `json:"state"`
	Iteration struct {
		Value struct {
			OID string `json:"$oid"`
		} `json:"value"`
		Version int64 `json:"version"`
	} `json:"iteration"`
	Review struct {
		Value   string `json:"value"`
		Version int64  `json:"version"`
	} `json:"iterationReview"`
	Counters struct {
		Value   *mapping.Counters `json:"value"`
		Version int64             `json:"version"`
	} `json:"taskCounters"`
	TP bool `json:"isStandaloneTP"`
}

// BenchmarkBacklog compares the streamed, tolerant reading of a backlog with
// the same library decoding the same bytes into plain structs and doing
// nothing with them.
func BenchmarkBacklog(b *testing.B) {
	body := []byte(`[{"bucket":"In","id":{"$oid":"b"},"items":[` + manyCards(10_000) + `]}]`)
	b.Run("client", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			err := decodeBacklog(json.NewDecoder(bytes.NewReader(body)), nil, func(*openBucket) error { return nil },
				func(*openBucket, mapping.Card) error { n++; return nil })
			if err != nil || n != 10_000 {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("peer streamed", func(b *testing.B) {
		cards := []byte("[" + manyCards(10_000) + "]")
		b.SetBytes(int64(len(cards)))
		b.ReportAllocs()
		for b.Loop() {
			d := json.NewDecoder(bytes.NewReader(cards))
			if _, err := d.Token(); err != nil {
				b.Fatal(err)
			}
			for d.More() {
				var card peerCard
				if err := d.Decode(&card); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("peer whole", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			var all []struct {
				Bucket string     `json:"bucket"`
				Items  []peerCard `json:"items"`
			}
			if err := json.Unmarshal(body, &all); err != nil || len(all[0].Items) != 10_000 {
				b.Fatal(err)
			}
		}
	})
}
