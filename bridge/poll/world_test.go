package poll_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/logtest"
	"planbridge/bridge/poll"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	project  = mapping.ObjectID("54744060c955ca8169c61ee6")
	incoming = mapping.ObjectID("b-incoming")
	other    = mapping.ObjectID("b-other")
)

var keys = mapping.NewKeys([]byte("a key that nobody knows, of some length"))

// counting counts what is written to the store.
type counting struct {
	store.Store
	mu       sync.Mutex
	observed []store.Observation
	marked   int
	docs     int
	fail     error // of Observe
	// loses: the servers behind the store restart after the next Observe, and have lost it.
	loses       bool
	incarnation string
}

func (s *counting) Epoch(ctx context.Context) (string, error) {
	epoch, err := s.Store.Epoch(ctx)
	return epoch + s.incarnation, err
}

func (s *counting) Observe(ctx context.Context, p mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	s.mu.Lock()
	err := s.fail
	if err == nil {
		s.observed = append(s.observed, obs...)
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if s.loses {
		s.loses, s.incarnation = false, s.incarnation+"/restarted"
		return make([]store.Observed, len(obs)), nil
	}
	return s.Store.Observe(ctx, p, obs)
}

func (s *counting) PutMarks(ctx context.Context, p mapping.ObjectID, set string, marks map[string]string) error {
	s.mu.Lock()
	s.marked += len(marks)
	s.mu.Unlock()
	return s.Store.PutMarks(ctx, p, set, marks)
}

func (s *counting) PutDoc(ctx context.Context, p mapping.ObjectID, name string, data []byte) error {
	s.mu.Lock()
	s.docs++
	s.mu.Unlock()
	return s.Store.PutDoc(ctx, p, name, data)
}

// writes returns how much was written since the last call.
func (s *counting) writes() (observed []store.Observation, marked, docs int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	observed, marked, docs = s.observed, s.marked, s.docs
	s.observed, s.marked, s.docs = nil, 0, 0
	return observed, marked, docs
}

// options are those of a Poller, with what it asks of the program around it as functions.
type options struct {
	poll.Options
	Routes    func() mapping.Routes
	Lost      func() time.Time
	BucketIDs bucketIDs
	OnSprints func()
	OnSuccess func(context.Context)
	OnFailure func(error)
	Restarted bool // another epoch is that of a server that restarted
}

type bucketIDs func(ctx context.Context, bucket string) ([]mapping.ObjectID, error)

func (f bucketIDs) BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error) {
	return f(ctx, bucket)
}

func (o options) poller() *poll.Poller {
	o.Settings, o.Host = program{o}, program{o}
	if o.BucketIDs != nil {
		o.Buckets = o.BucketIDs
	}
	return poll.New(o.Options)
}

// program is the program around a Poller.
type program struct{ o options }

func (p program) Routes() mapping.Routes { return p.o.Routes() }
func (p program) Keys() mapping.Keys     { return keys }

func (p program) LostAt() time.Time {
	if p.o.Lost == nil {
		return time.Time{}
	}
	return p.o.Lost()
}

func (p program) IsSameStore(was, is string) bool { return p.o.Restarted && was != "" }

func (p program) SprintsChanged() {
	if p.o.OnSprints != nil {
		p.o.OnSprints()
	}
}

func (p program) Answered(ctx context.Context) {
	if p.o.OnSuccess != nil {
		p.o.OnSuccess(ctx)
	}
}

func (p program) Failed(err error) {
	if p.o.OnFailure != nil {
		p.o.OnFailure(err)
	}
}

// world is a Poller of the service on an embedded store.
type world struct {
	t       testing.TB
	planned *service
	store   *counting
	poller  *poll.Poller
	options options
	routes  []mapping.Route
	log     *logtest.Text
	woken   int
	failed  []error
}

func newStore(t testing.TB, o boltstore.Options) *boltstore.Store {
	t.Helper()
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{
		t: t, store: &counting{Store: newStore(t, boltstore.Options{})}, log: &logtest.Text{},
		planned: &service{items: map[mapping.ObjectID]listing{}, tasks: map[mapping.ObjectID][]mapping.Task{}, fails: map[string]error{}},
		routes:  []mapping.Route{route("web", "Incoming")},
	}
	w.setOptions()
	w.poller = w.options.poller()
	return w
}

// configured tells the world's routes: the same ones until they change, as a program does.
func (w *world) configured() func() mapping.Routes {
	var of []mapping.Route
	var routes mapping.Routes
	return func() mapping.Routes {
		if of == nil || !reflect.DeepEqual(of, w.routes) {
			of = slices.Clone(w.routes)
			routes = mapping.NewRoutes(of)
		}
		return routes
	}
}

func (w *world) setOptions() {
	w.options = options{
		Options: poll.Options{
			Project: project, Name: "web", Planning: w.planned, Store: w.store,
			Owner: "replica-1", Interval: 30 * time.Second,
			Metrics: poll.NewMetrics(prometheus.NewRegistry()),
			Logger:  slog.New(slog.NewTextHandler(w.log, nil)),
		},
		Routes:    w.configured(),
		OnSuccess: func(context.Context) { w.woken++ },
		OnFailure: func(err error) { w.failed = append(w.failed, err) },
	}
}

func route(name, bucket string) mapping.Route {
	return mapping.Route{
		Name: name, Repositories: []string{"acme/" + name}, NewCardsIn: "acme/" + name, Project: project, ProjectName: "web", Bucket: bucket,
		Direction: mapping.Both, CreateIssues: true,
	}
}

// restart is a new process on the same store.
func (w *world) restart() { w.poller = w.options.poller() }

func (w *world) poll() {
	w.t.Helper()
	if err := w.poller.Poll(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// adopted puts the documents of the repositories whose own issues were listed.
func (w *world) adopted() {
	w.t.Helper()
	epoch, err := w.store.Epoch(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range w.routes {
		if err := w.store.Store.PutDoc(w.t.Context(), "", "adopted:"+r.Repositories[0], []byte(epoch)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// settled is a world after its baseline with the given cards in Incoming.
func settled(t *testing.T, cards ...mapping.Card) *world {
	t.Helper()
	w := newWorld(t)
	w.planned.put(incoming, "Incoming", cards...)
	w.adopted()
	w.poll()
	if n := len(w.links()); n != 0 {
		t.Fatalf("the first poll made %d links", n)
	}
	w.store.writes()
	return w
}

func (w *world) links() []*mapping.Link {
	w.t.Helper()
	links, _, err := w.store.List(w.t.Context(), project, "", 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	return links
}

func (w *world) onlyLink() *mapping.Link {
	w.t.Helper()
	links := w.links()
	if len(links) != 1 {
		w.t.Fatalf("%d links, want 1\n%s", len(links), w.log)
	}
	return links[0]
}

// link makes a link of a card, worked and quiet.
func (w *world) link(c mapping.Card, change ...func(*mapping.Link)) *mapping.Link {
	w.t.Helper()
	l := w.routes[0].EnterCard(&c, time.Now())
	l.State = mapping.Linked
	for _, f := range change {
		f(l)
	}
	if _, err := w.store.Store.Observe(w.t.Context(), project, []store.Observation{{Create: l}}); err != nil {
		w.t.Fatal(err)
	}
	w.work(l)
	return l
}

// work finishes the link's key, if it is due, and returns what it carried; nil
// when it was not due.
func (w *world) work(l *mapping.Link) *store.Claim {
	w.t.Helper()
	c, _, err := w.store.Claim(w.t.Context(), project, time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	if c == nil {
		return nil
	}
	if c.Key.Link != l.ID {
		w.t.Fatalf("key %s is due, want %s", c.Key, l.ID)
	}
	if err := w.store.Finish(w.t.Context(), c, nil, nil, store.Outcome{Kind: store.Done}); err != nil {
		w.t.Fatal(err)
	}
	return c
}

func decode[T any](t *testing.T, c *store.Claim, ref mapping.Ref) (v T) {
	t.Helper()
	if c == nil {
		t.Fatalf("nothing is due, want %s in the inbox", ref)
	}
	s, ok := c.Inbox[ref]
	if !ok {
		t.Fatalf("inbox %v lacks %s", c.Inbox, ref)
	}
	if err := json.Unmarshal(s.Data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
