//go:build bench

package benchtest_test

import (
	"bytes"
	stdjson "encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-json"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planning"
	"planbridge/bridge/poll"
	"planbridge/mapping"
	"planbridge/store"
)

// measureFirstPoll measures the rate at which a starting process reads an unchanged backlog. Its
// peers are libraries that decode the same bytes into plain structs. All read from memory. The
// figures are by processor time, as a busy machine stretches all others.
func measureFirstPoll(n *numbers) {
	cards := n.scaled(100_000)
	s := fileStore(n.t, filepath.Join(n.t.TempDir(), "planbridge.db"))
	p := newPollBench(n.t, intakeProject, s, cards)
	epoch, err := s.Epoch(n.t.Context())
	if err == nil {
		err = s.PutDoc(n.t.Context(), intakeProject, store.DocAdopted, []byte(epoch))
	}
	if err != nil {
		n.t.Fatal(err)
	}
	p.poll() // records the cards
	list := p.body[bytes.Index(p.body, []byte(`"items":`))+len(`"items":`):]
	client, at := memoryClient(n.t, p.body), strconv.Itoa(cards)
	mbs := func(what string, read func() error) float64 {
		mb := float64(p.size) / 1e6 / n.processor(read).Seconds()
		n.record("first poll after a start", what, mb, "MB/s of processor time")
		return mb
	}
	show := func(what string, read func() error) { n.shown("… "+what, at, figure(mbs(what, read))) }

	started := func() *poll.Poller {
		return pollerOf(n.t, s, client, intakeProject, bridgetest.RepoName)
	}
	again := func() func() error {
		known := started()
		if err := known.Poll(n.t.Context()); err != nil {
			n.t.Fatal(err)
		}
		return func() error { return known.Poll(n.t.Context()) }
	}
	n.atLeast("first poll after a start, %s unchanged cards, their marks read from the file store: MB/s of processor time", at,
		mbs("with its marks", func() error { return started().Poll(n.t.Context()) }), 800)
	n.atLeast("… %s cards, their text alone", at, mbs("scanned, hashed, found unchanged", again()), 800)
	show("the same bytes by goccy/go-json into plain structs", func() error { return plainList(json.NewDecoder(bytes.NewReader(list))) })
	show("by encoding/json into plain structs", func() error { return plainList(stdjson.NewDecoder(bytes.NewReader(list))) })
	show("by jsontext, split into cards and not decoded", func() error {
		d := jsontext.NewDecoder(bytes.NewReader(list), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		_, err := d.ReadToken()
		for err == nil && d.PeekKind() == '{' {
			_, err = d.ReadValue()
		}
		return err
	})
	show("by planbridge, split into cards and each decoded", func() error {
		return client.BacklogEach(n.t.Context(), func(mapping.ObjectID, string, mapping.Card) error { return nil })
	})
	p.stride = 7919 // a prime: each card comes once, far from those made with it
	p.change(0)
	client = memoryClient(n.t, p.body)
	show("in another order: each 7,919th card, round by round", again())
}

// processor is what the processors did for a call, in the middle of five.
func (n *numbers) processor(do func() error) time.Duration {
	var times []time.Duration
	for range 5 {
		began := processorTime(n.t)
		if err := do(); err != nil {
			n.t.Fatal(err)
		}
		times = append(times, processorTime(n.t)-began)
	}
	return median(times)
}

// plainList decodes a list of cards by a library.
func plainList[T any](d interface {
	Token() (T, error)
	More() bool
	Decode(v any) error
},
) error {
	_, err := d.Token()
	for err == nil && d.More() {
		err = d.Decode(new(plainCard))
	}
	return err
}

// memoryService answers each request with a body.
type memoryService []byte

func (m memoryService) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(m)), Header: http.Header{}, Request: r}, nil
}

// memoryClient is the client of a project whose backlog is body.
func memoryClient(t testing.TB, body []byte) *planning.Client {
	t.Helper()
	client, err := planning.New(planning.Options{
		BaseURL: "https://planning.test", Project: intakeProject, Secret: "secret",
		HTTPClient: &http.Client{Transport: memoryService(body)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}
