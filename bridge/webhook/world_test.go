package webhook_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/logtest"
	"planbridge/bridge/webhook"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	web  = mapping.ObjectID("54744060c955ca8169c61ee6")
	apps = mapping.ObjectID("54744060c955ca8169c61ee7")
	bot  = "planbridge[bot]"
)

var (
	began = time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	edits = began.Add(time.Hour) // when people work
)

// options are those of an Intake, with what it asks of the program around it as functions.
type options struct {
	webhook.Options
	Trust             func() *webhook.Trust
	Verify            func(secrets, body [][]byte, header string) (int, error)
	Payload           func(contentType string, body []byte) ([]byte, error)
	Parse             func(name string, payload []byte) (webhook.Event, error)
	Routes            func() mapping.Routes
	Scheme            func() mapping.LabelScheme
	Keys              func() mapping.Keys
	Authorship        func(login string) mapping.Authorship
	FirstRun          func(route string) time.Time
	Renamed           func(ctx context.Context, from, to string) error
	Writable          func(ctx context.Context, repo string)
	Visible           func(ctx context.Context, repo string, public bool) bool
	OtherInstallation func(owner string, id int64) bool
	Names             map[int64]string // of repositories, by their ids
}

func (o options) intake() *webhook.Intake {
	o.Decoder, o.Settings, o.Accounts, o.Repositories = decoder{o}, settings{o}, accounts{o}, repositories{o}
	return webhook.New(o.Options)
}

type decoder struct{ o options }

func (d decoder) Verify(secrets, body [][]byte, header string) (int, error) {
	return d.o.Verify(secrets, body, header)
}

func (d decoder) Payload(kind string, body []byte) ([]byte, error) { return d.o.Payload(kind, body) }

func (d decoder) Parse(name string, payload []byte) (webhook.Event, error) {
	return d.o.Parse(name, payload)
}

type settings struct{ o options }

func (s settings) Trust() *webhook.Trust           { return s.o.Trust() }
func (s settings) Routes() mapping.Routes          { return s.o.Routes() }
func (s settings) Scheme() mapping.LabelScheme     { return s.o.Scheme() }
func (s settings) Keys() mapping.Keys              { return s.o.Keys() }
func (s settings) FirstRun(route string) time.Time { return s.o.FirstRun(route) }

type accounts struct{ o options }

func (a accounts) Authorship(login string) mapping.Authorship             { return a.o.Authorship(login) }
func (a accounts) Met(context.Context, string, int64)                     {}
func (a accounts) Released(context.Context, *mapping.Issue) (bool, error) { return false, nil }

func (a accounts) OtherInstallation(owner string, id int64) bool {
	return a.o.OtherInstallation != nil && a.o.OtherInstallation(owner, id)
}

type repositories struct{ o options }

func (r repositories) Identify(_ context.Context, repo string, id int64) (string, error) {
	return cmp.Or(r.o.Names[id], repo), nil
}

func (r repositories) NameOf(id int64) string { return r.o.Names[id] }

func (r repositories) Visible(ctx context.Context, repo string, public bool) bool {
	if r.o.Visible != nil {
		return r.o.Visible(ctx, repo, public)
	}
	return public
}

func (r repositories) Renamed(ctx context.Context, from, to string) error {
	return r.o.Renamed(ctx, from, to)
}
func (r repositories) Writable(ctx context.Context, repo string) { r.o.Writable(ctx, repo) }

// world is an intake on an embedded store, with one route unless told.
type world struct {
	t       testing.TB
	store   store.Store
	intake  *webhook.Intake
	options options
	reg     *prometheus.Registry
	log     *logtest.Text
	guid    int
}

func newWorld(t testing.TB, change ...func(*options)) *world {
	t.Helper()
	return newWorldOn(t, boltstore.Options{}, change...)
}

func newWorldOn(t testing.TB, so boltstore.Options, change ...func(*options)) *world {
	t.Helper()
	s, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w := &world{t: t, store: s, reg: prometheus.NewRegistry(), log: &logtest.Text{}}
	w.options = options{
		Options: webhook.Options{
			Store: s, EnterDelay: 2 * time.Second, Metrics: webhook.NewMetrics(w.reg),
			Logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		},
		Trust:   func() *webhook.Trust { return webhook.NewTrust(nil, [][]byte{[]byte("old"), []byte("new")}, nil) },
		Verify:  verify,
		Payload: func(_ string, body []byte) ([]byte, error) { return body, nil },
		Parse: func(_ string, payload []byte) (ev webhook.Event, err error) {
			return ev, json.Unmarshal(payload, &ev)
		},
		Routes:     routes(route("web", "acme/web", web)),
		Scheme:     func() mapping.LabelScheme { return mapping.LabelScheme{Prefix: "plan:"} },
		Keys:       func() mapping.Keys { return keys },
		Authorship: whose,
		FirstRun:   func(string) time.Time { return began },
	}
	for _, f := range change {
		f(&w.options)
	}
	w.intake = w.options.intake()
	return w
}

// whose knows the bridge's account.
func whose(login string) mapping.Authorship {
	if login == bot {
		return mapping.Named
	}
	return mapping.Theirs
}

func route(name, repo string, project mapping.ObjectID) mapping.Route {
	return mapping.Route{Name: name, Repositories: []string{repo}, NewCardsIn: repo, Project: project, Bucket: "Incoming", Direction: mapping.Both, CreateIssues: true}
}

func routes(rs ...mapping.Route) func() mapping.Routes {
	return func() mapping.Routes { return mapping.NewRoutes(rs) }
}

var keys = mapping.NewKeys([]byte("a key that nobody knows, of some length"))

func verify(secrets, body [][]byte, header string) (int, error) {
	for i, s := range secrets {
		if hmac.Equal([]byte(sign(s, bytes.Join(body, nil))), []byte(header)) {
			return i, nil
		}
	}
	return 0, errors.New("no secret verifies it")
}

func sign(secret, body []byte) string {
	m := hmac.New(sha256.New, secret)
	m.Write(body)
	return "sha256=" + hex.EncodeToString(m.Sum(nil))
}

func issue(id int64, change ...func(*mapping.Issue)) *mapping.Issue {
	i := &mapping.Issue{
		ID: id, Repo: "acme/web", Number: int(id), Title: "A title", Body: "A body", State: "open",
		Author: "octocat", CreatedAt: began, UpdatedAt: edits,
	}
	for _, f := range change {
		f(i)
	}
	return i
}

func event(action string, i *mapping.Issue) webhook.Event {
	return webhook.Event{Action: action, Issue: i, Repo: i.Repo, Private: true, Sender: "octocat"}
}

// request is a signed delivery with a GUID of its own.
func (w *world) request(name string, payload any) *http.Request {
	return w.raw(name, encoded(w.t, payload))
}

func encoded(t testing.TB, payload any) []byte {
	t.Helper()
	body, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func (w *world) raw(name string, body []byte) *http.Request {
	w.guid++
	r := httptest.NewRequest(http.MethodPost, webhook.Path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", name)
	r.Header.Set("X-GitHub-Hook-ID", "7")
	r.Header.Set("X-GitHub-Delivery", fmt.Sprintf("guid-%d", w.guid))
	r.Header.Set("X-Hub-Signature-256", sign([]byte("new"), body))
	return r
}

// serve answers a request and checks the status and what was counted.
func (w *world) serve(r *http.Request, status int, result string) string {
	w.t.Helper()
	rec := httptest.NewRecorder()
	was := w.counted(result)
	w.intake.ServeHTTP(rec, r)
	body, _ := io.ReadAll(rec.Body)
	if rec.Code != status || w.counted(result) != was+1 {
		w.t.Fatalf("answered %d %q, counted %v; want %d and %s\n%s", rec.Code, body, w.counts(), status, result, w.log)
	}
	if (rec.Header().Get("Retry-After") != "") != (status == http.StatusServiceUnavailable) {
		w.t.Errorf("status %d with Retry-After %q", status, rec.Header().Get("Retry-After"))
	}
	return string(body)
}

func (w *world) deliver(action string, i *mapping.Issue, result string) {
	w.t.Helper()
	w.serve(w.request("issues", event(action, i)), http.StatusAccepted, result)
}

// counts returns the deliveries counted, by "event result"; series that began at zero and stayed
// there are left out.
func (w *world) counts() map[string]float64 {
	families, err := w.reg.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			if n := m.GetCounter().GetValue(); n > 0 {
				out[strings.Join(labels, " ")] = n
			}
		}
	}
	return out
}

func (w *world) counted(result string) (n float64) {
	for labels, v := range w.counts() {
		if strings.HasSuffix(labels, " "+result) {
			n += v
		}
	}
	return n
}

// links returns the links of a project.
func (w *world) links(project mapping.ObjectID) []*mapping.Link {
	w.t.Helper()
	links, _, err := w.store.List(context.Background(), project, "", 100)
	if err != nil {
		w.t.Fatal(err)
	}
	return links
}

func (w *world) onlyLink(project mapping.ObjectID) *mapping.Link {
	w.t.Helper()
	links := w.links(project)
	if len(links) != 1 {
		w.t.Fatalf("project %s has %d links, want 1\n%s", project, len(links), w.log)
	}
	return links[0]
}

// claim takes a link's key with its inbox.
func (w *world) claim(l *mapping.Link) *store.Claim {
	w.t.Helper()
	c, err := w.store.ClaimKey(context.Background(), store.Key{Project: l.Project, Link: l.ID}, time.Minute)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// work finishes a link's key, after changing the link.
func (w *world) work(l *mapping.Link, change func(*mapping.Link)) {
	w.t.Helper()
	c := w.claim(l)
	link := *c.Link
	if change != nil {
		change(&link)
	}
	if err := w.store.Finish(context.Background(), c, &link, nil, store.Outcome{Kind: store.Done}); err != nil {
		w.t.Fatal(err)
	}
}

// inbox returns the issue snapshot that waits for a link.
func (w *world) inbox(l *mapping.Link, id int64) (i mapping.Issue, found bool) {
	w.t.Helper()
	c := w.claim(l)
	if err := w.store.Finish(context.Background(), c, nil, nil, store.Outcome{Kind: store.Again}); err != nil {
		w.t.Fatal(err)
	}
	s, found := c.Inbox[mapping.IssueRef(id)]
	if found {
		if err := json.Unmarshal(s.Data, &i); err != nil {
			w.t.Fatal(err)
		}
	}
	return i, found
}
