//go:build bench

package benchtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goccy/go-json"
	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planning"
	"planbridge/bridge/poll"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
)

// measurePoll compares a poll of unchanged cards with its decoding library. The peer reads the same
// answer from the same server into plain structs and does nothing with them.
func measurePoll(n *numbers) {
	for _, cards := range []int{1000, 10_000, 100_000} {
		n.poll(n.scaled(cards))
	}
}

func (n *numbers) poll(cards int) {
	p := newPollBench(n.t, intakeProject, fileStore(n.t, filepath.Join(n.t.TempDir(), "planbridge.db")), cards)
	for range 2 { // records them, finds them as they were
		p.poll()
	}
	at := strconv.Itoa(cards)
	row := "poll of " + at + " unchanged cards"
	rounds := max(5, min(200_000/cards, 50))
	var peers, polls, news []time.Duration
	for range rounds {
		peers, polls = append(peers, timed(p.peer)), append(polls, timed(p.poll))
	}
	ratio := float64(median(polls)) / float64(median(peers))
	n.record(row, "decoder alone", median(peers).Seconds()*1000, "ms")
	n.record(row, "poll", median(polls).Seconds()*1000, "ms")
	n.atMost("poll of %s unchanged cards against the decoder alone: time", at, ratio, 1.5)

	before, allocs := mallocs(), peakOf(p.poll)
	n.shown("… allocations per card, the server's included", at, fmt.Sprintf("%.1g", float64(mallocs()-before)/float64(cards)))
	n.record(row, "body", float64(p.size)/1e6, "MB")
	n.record(row, "peak memory beyond what is kept", float64(allocs)/1e6, "MB")
	if cards >= 10_000 {
		n.atMost("… peak memory beyond what is kept against the body's size, %s cards", at, float64(allocs)/float64(p.size), 2)
	}
	for range 5 {
		p.change(max(cards/100, 1))
		news = append(news, timed(p.poll))
		p.poll()
	}
	n.record(row, "poll with 1 % changed", median(news).Seconds()*1000, "ms")
	each := float64(median(news)-median(polls)) / float64(max(cards/100, 1)) / float64(time.Microsecond)
	n.shown("… with 1 % changed: more time per changed card", at, fmt.Sprintf("%.3g µs", each))
	n.shown("… kept in memory", at, fmt.Sprintf("%.2g MB", float64(p.kept())/1e6))
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// inUse is the memory of objects, dead ones that were not swept included.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// peakOf is how much more memory is in use, at most, while f runs.
func peakOf(f func()) uint64 {
	runtime.GC()
	before, most := inUse(), uint64(0)
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				most = max(most, inUse())
			}
		}
	})
	f()
	close(done)
	watching.Wait()
	return max(most, before) - before
}

// pollBench is a poller of a project with many cards, none of them linked.
type pollBench struct {
	t      testing.TB
	server *httptest.Server
	poller *poll.Poller
	// backlogs counts the polls.
	backlogs atomic.Int64
	before   uint64 // memory in use, but for the body, before the poller was made

	cards, size, version int
	stride               int // from a card's number to that of the next one in the list; 0: 1
	body                 []byte
}

// backlogOnly is the planning client of a project without sprints.
type backlogOnly struct{ *planning.Client }

func (backlogOnly) Sprints(context.Context) ([]poll.Sprint, error) { return nil, nil }
func (backlogOnly) SprintItems(context.Context, mapping.ObjectID) ([]mapping.Card, []mapping.Task, error) {
	return nil, nil, nil
}

// fileStore opens the embedded store, and closes it at the end unless that was
// done.
func fileStore(t testing.TB, path string) store.Store {
	t.Helper()
	s, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // it may be closed
	return s
}

func newPollBench(t testing.TB, project mapping.ObjectID, s store.Store, cards int) *pollBench {
	t.Helper()
	p := &pollBench{t: t, cards: cards}
	p.change(0)
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	runtime.GC()
	p.before = inUse() - uint64(cap(p.body))
	p.poller = newPoller(t, s, p.server.URL, "secret", project, bridgetest.RepoName)
	return p
}

// pollWorld is the program around a poller that nobody is told of.
type pollWorld struct{ routes mapping.Routes }

func (w pollWorld) Routes() mapping.Routes { return w.routes }
func (w pollWorld) LostAt() time.Time      { return time.Time{} }
func (w pollWorld) SprintsChanged()        {}

func (w pollWorld) IsSameStore(string, string) bool { return false }

func (w pollWorld) Answered(context.Context) {}
func (w pollWorld) Failed(error)             {}

func (w pollWorld) Keys() mapping.Keys {
	return mapping.NewKeys([]byte("a key that nobody knows, of some length"))
}

// newPoller is a poller of a project's backlog that follows no marker: it only records cards that
// it sees first.
func newPoller(t testing.TB, s store.Store, url, secret string, project mapping.ObjectID, route string) *poll.Poller {
	t.Helper()
	client, err := planning.New(planning.Options{BaseURL: url, Project: project, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return pollerOf(t, s, client, project, route)
}

// pollerOf is newPoller with a client.
func pollerOf(t testing.TB, s store.Store, client *planning.Client, project mapping.ObjectID, route string) *poll.Poller {
	t.Helper()
	routes := mapping.NewRoutes([]mapping.Route{{Name: route, Repositories: []string{bridgetest.RepoName}, NewCardsIn: bridgetest.RepoName, Project: project, Bucket: bridgetest.Bucket, Direction: mapping.Both, CreateIssues: true}})
	return poll.New(poll.Options{
		Project: project, Name: "web", Planning: backlogOnly{client}, Store: s, Owner: "bench", Interval: time.Minute,
		Settings: pollWorld{routes}, Host: pollWorld{routes},
		Metrics: poll.NewMetrics(prometheus.NewRegistry()), Logger: slog.New(slog.DiscardHandler),
	})
}

// ServeHTTP answers the backlog, a card's one task, and that there is nothing
// else.
func (p *pollBench) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	body := []byte("[]")
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/backlog/items"):
		p.backlogs.Add(1)
		body = p.body
	case strings.HasSuffix(path, "/tasks"):
		card := strings.TrimPrefix(strings.TrimSuffix(path, "/tasks"), path[:strings.LastIndex(path, "/items/")+len("/items/")])
		body = fmt.Appendf(nil, `[{"_id":{"$oid":%q},"cid":1,"version":1,"owner":{"value":{"$oid":%[2]q},"version":0},"title":{"value":"Track","version":0},`+
			`"state":{"value":"todo","version":0}}]`, taskOf(card), card)
	}
	w.Write(body) //nolint:errcheck // the client tells
}

// cardID is the id of the card with that index, taskOf that of a card's task.
func cardID(i int) mapping.ObjectID {
	return mapping.ObjectID(fmt.Sprintf("54744060c955ca8169%06d", i))
}
func taskOf(card string) string { return "6" + card[1:] }

// cardText is every card's summary.
var cardText = strings.Repeat("Something has to be done about this. ", 16)

// change edits so many cards, of some 1,000 bytes each.
func (p *pollBench) change(many int) {
	p.version++
	var b bytes.Buffer
	b.Grow(len(p.body) + 1024)
	b.WriteString(`[{"bucket":"Incoming","id":{"$oid":"b1"},"items":[`)
	for at := range p.cards {
		version, i := 1, at*max(p.stride, 1)%p.cards
		if i < many {
			version = p.version
		}
		if at > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"_id":{"$oid":%q},"cid":%d,"version":%d,"estimate":{"value":3,"version":1},`+
			`"isStandaloneTP":false,"iteration":{"value":null,"version":0},"state":{"value":{"$oid":"b1"},"version":0},`+
			`"order":{"value":"000000001.0","version":0},"taskCounters":{"value":null,"version":0},`+
			`"title":{"value":"Card %d, %d","version":%d},"summary":{"value":{"markdown":"%s","html":"<p>%d</p>"},"version":3},"_order":%d}`,
			cardID(i), i, version, i, version, version, cardText, i, i)
	}
	b.WriteString("]}]")
	p.body, p.size = b.Bytes(), b.Len()
}

func (p *pollBench) poll() {
	if err := p.poller.Poll(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// kept is what the poller keeps between polls.
func (p *pollBench) kept() uint64 {
	runtime.GC()
	now := inUse() - uint64(cap(p.body))
	runtime.KeepAlive(p.poller)
	return now - min(p.before, now)
}

// plainCard is what a card is decoded into without tolerance.
type plainCard struct {
	ID struct {
		OID string `json:"$oid"`
	} `json:"_id"`
	CID, Version int64
	Title        plainValue[string]
	Summary      plainValue[struct{ Markdown string }]
	Estimate     plainValue[*float64]
	State        plainValue[struct {
		OID string `json:"$oid"`
	}]
	Iteration plainValue[*struct {
		OID string `json:"$oid"`
	}]
	Review   plainValue[string] `json:"iterationReview"`
	Counters plainValue[any]    `json:"taskCounters"`
	TP       bool               `json:"isStandaloneTP"`
}

type plainValue[T any] struct {
	Value   T
	Version int64
}

// peer reads the answer and decodes it, card by card.
func (p *pollBench) peer() {
	resp, err := http.Get(p.server.URL + "/backlog/items")
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read to its end
	d := json.NewDecoder(resp.Body)
	cards := 0
	if err := plainBuckets(d, func() error { cards++; return d.Decode(new(plainCard)) }); err != nil || cards != p.cards {
		p.t.Fatal(cards, err)
	}
	io.Copy(io.Discard, resp.Body) //nolint:errcheck // nothing is left
}

// plainBuckets goes through the buckets and calls each at every card.
func plainBuckets(d *json.Decoder, each func() error) error {
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if token != "items" {
			continue
		}
		if _, err := d.Token(); err != nil {
			return err
		}
		for d.More() {
			if err := each(); err != nil {
				return err
			}
		}
	}
}
