package planning

import (
	"bytes"
	stdjson "encoding/json"
	"syscall"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/go-json-experiment/json/jsontext"
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

// BenchmarkBacklog compares the tolerant reading of a backlog, card by card, with libraries. These
// decode the same bytes into plain structs and do nothing with them.
func BenchmarkBacklog(b *testing.B) {
	const cards = 10_000
	body := []byte(`[{"bucket":"In","id":{"$oid":"b"},"items":[` + manyCards(cards) + `]}]`)
	list := body[bytes.Index(body, []byte(`"items":`))+len(`"items":`):]
	read := func(known knows) func() (int, error) {
		return func() (n int, err error) {
			err = readBacklog(newStream(bytes.NewReader(body)), known, func(*openBucket) error { return nil },
				func(*openBucket, mapping.Card) error { n++; return nil })
			return n, err
		}
	}
	seen := map[string]uint64{}
	remember := func(_ mapping.ObjectID, _ string, id, text []byte) bool {
		seen[string(id)] = xxhash.Sum64(text)
		return false
	}
	if _, err := read(remember)(); err != nil || len(seen) != cards {
		b.Fatal(len(seen), err)
	}
	all := 0
	unchanged := func(_ mapping.ObjectID, _ string, id, text []byte) bool {
		all++
		return seen[string(id)] == xxhash.Sum64(text)
	}
	for name, run := range map[string]func() (int, error){
		"scan, decoded":   read(nil),
		"scan, unchanged": func() (int, error) { all = 0; _, err := read(unchanged)(); return all, err },
		"goccy":           func() (int, error) { return peer(json.NewDecoder(bytes.NewReader(list))) },
		"encoding-json":   func() (int, error) { return peer(stdjson.NewDecoder(bytes.NewReader(list))) },
		"jsontext": func() (n int, err error) {
			d := jsontext.NewDecoder(bytes.NewReader(list), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
			for _, err = d.ReadToken(); err == nil && d.PeekKind() == '{'; n++ {
				var text jsontext.Value
				var w wireCard
				if text, err = d.ReadValue(); err == nil {
					err = w.UnmarshalJSON(text)
				}
			}
			return n, err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			began := processorTime()
			for b.Loop() {
				if n, err := run(); err != nil || n != cards {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(b.N*len(body))/float64((processorTime()-began).Microseconds()), "MB/cpu-s")
		})
	}
}

// peer reads a list of cards with a library's decoder.
func peer[T any](d interface {
	Token() (T, error)
	More() bool
	Decode(v any) error
},
) (n int, err error) {
	for _, err = d.Token(); err == nil && d.More(); n++ {
		var card peerCard
		err = d.Decode(&card)
	}
	return n, err
}

// processorTime is what this process took of the processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
