package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/logtest"
	"planbridge/bridge/planningtest"
	api "planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
)

// panicky is a store on which the program panics where it is told to.
type panicky struct {
	store.Store
	mu   sync.Mutex
	hits map[string]int // by what was done
	on   map[string]bool
}

func (s *panicky) meet(what string) {
	s.mu.Lock()
	bad := s.on[what]
	if bad {
		s.hits[what]++
	}
	s.mu.Unlock()
	if bad {
		panic("met " + what)
	}
}

// set makes what is named panic from now on, and nothing else.
func (s *panicky) set(what ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = map[string]bool{}
	for _, w := range what {
		s.on[w] = true
	}
}

func (s *panicky) met(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[what]
}

func (s *panicky) Depth(ctx context.Context, p mapping.ObjectID) (store.Depth, error) {
	s.meet("depth")
	return s.Store.Depth(ctx, p)
}

func (s *panicky) Tally(ctx context.Context, p mapping.ObjectID) (store.Tally, error) {
	s.meet("tally")
	return s.Store.Tally(ctx, p)
}

func (s *panicky) Claim(ctx context.Context, p mapping.ObjectID, ttl time.Duration) (*store.Claim, time.Duration, error) {
	s.meet("claim")
	return s.Store.Claim(ctx, p, ttl)
}

func (s *panicky) Link(ctx context.Context, key store.Key) (*mapping.Link, error) {
	l, err := s.Store.Link(ctx, key)
	if err == nil {
		s.meet(fmt.Sprint("link of ", l.Issue.Number))
	}
	return l, err
}

func (s *panicky) Find(ctx context.Context, p mapping.ObjectID, ref mapping.Ref) (mapping.LinkID, error) {
	s.meet("find " + string(ref))
	return s.Store.Find(ctx, p, ref)
}

func (s *panicky) Doc(ctx context.Context, p mapping.ObjectID, name string) ([]byte, error) {
	s.meet("doc " + name)
	return s.Store.Doc(ctx, p, name)
}

func (s *panicky) Conflicts(ctx context.Context, p mapping.ObjectID, cursor string, limit int) ([]mapping.Conflict, string, error) {
	s.meet("conflicts")
	return s.Store.Conflicts(ctx, p, cursor, limit)
}

// lastingly is an App on such a store, in a world of its own.
func lastingly(t *testing.T) (*bridgetest.World, *panicky, *bridge.App, *logtest.Text) {
	t.Helper()
	w := world(t, bridgetest.Options{Idle: true})
	bolt, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &panicky{Store: bolt, hits: map[string]int{}}
	log := &logtest.Text{}
	a, err := bridge.New(bridge.Options{Config: load(t, w, same), Logger: slog.New(slog.NewTextHandler(log, nil)), Store: s, Drain: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.set()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := a.Stop(ctx); err != nil {
			t.Error(err)
		}
		if err := bolt.Close(); err != nil {
			t.Error(err)
		}
	})
	w.GitHub.AddHook(bridgetest.RepoName, "http://"+a.Addr()+"/webhooks/github", bridgetest.WebhookSecret)
	until(t, w, "the first polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	return w, s, a, log
}

func get(t *testing.T, a *bridge.App, path string) (int, string) {
	t.Helper()
	r, err := http.Get("http://" + a.AdminAddr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// aside reports whether failures names an item, and with which words.
func aside(t *testing.T, a *bridge.App, where string) bool {
	t.Helper()
	code, body := get(t, a, "/api/v1/failures")
	var out api.Failures
	if err := json.Unmarshal([]byte(body), &out); code != http.StatusOK || err != nil {
		t.Fatalf("failures: %d %s", code, body)
	}
	for _, f := range out.Failures {
		if strings.HasPrefix(f.Where, where) && strings.Contains(f.Reason, "panic: met") {
			return true
		}
	}
	return false
}

// job runs a job to its end.
func job(t *testing.T, w *bridgetest.World, a *bridge.App, kind, ask string) (now api.Job) {
	t.Helper()
	r, err := http.Post("http://"+a.AdminAddr()+"/api/v1/"+kind, "application/json", strings.NewReader(ask))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close() //nolint:errcheck // only read
	if err := json.NewDecoder(r.Body).Decode(&now); err != nil || now.ID == "" {
		t.Fatalf("%s: %s, %v", kind, r.Status, err)
	}
	until(t, w, kind, func() bool {
		_, body := get(t, a, "/api/v1/jobs/"+now.ID)
		return json.Unmarshal([]byte(body), &now) == nil && now.State != api.JobRunning
	})
	return now
}

// TestNoPanicOfALoopEndsTheProcess lets each loop of the App meet a panic, and then
// do its work.
func TestNoPanicOfALoopEndsTheProcess(t *testing.T) {
	w, s, a, log := lastingly(t)

	s.set("claim", "depth", "tally", "doc "+store.DocSprints)
	w.Project.NewSprint(planningtest.SprintSpec{Title: "Sprint 1"})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "One"})
	until(t, w, "a queue that cannot be asked", func() bool { return s.met("claim") > 2 && aside(t, a, "claim in") })
	if code, _ := get(t, a, "/metrics"); code != http.StatusOK || !aside(t, a, "scrape tally of project") {
		t.Errorf("a scrape is answered with %d; the failures do not name it", code)
	}
	until(t, w, "a watch that panics", func() bool { return aside(t, a, "watch") })
	s.set()
	until(t, w, "the card", func() bool { return len(w.Project.Cards()) == 1 })
	until(t, w, "nothing set aside", func() bool {
		_, _ = get(t, a, "/metrics")
		return !aside(t, a, "claim in") && !aside(t, a, "scrape") && !aside(t, a, "watch")
	})

	s.set("conflicts")
	if code, body := get(t, a, "/api/v1/conflicts"); code != http.StatusInternalServerError {
		t.Errorf("a request that panics is answered with %d %s", code, body)
	}
	if code, _ := get(t, a, "/healthz"); code != http.StatusOK {
		t.Errorf("/healthz is answered with %d", code)
	}
	if n := strings.Count(log.String(), "what=\"claim in\""); n != 1 {
		t.Errorf("%d lines tell of one panic:\n%s", n, log)
	}
}

// TestAPanicOnALinkCostsAJobNoOther: verify and import go on with the others.
func TestAPanicOnALinkCostsAJobNoOther(t *testing.T) {
	w, s, a, _ := lastingly(t)
	for n := range 3 {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Title ", n+1)})
	}
	until(t, w, "their cards", func() bool { return len(w.Project.Cards()) == 3 && a.InHand() == 0 })
	s.set("link of 2")
	if now := job(t, w, a, "verify", `{}`); now.State != api.JobDone {
		t.Errorf("the verification is %s: %s", now.State, now.Error)
	}
	if !aside(t, a, "verification of") {
		t.Error("the failures do not name the link")
	}

	issue := w.Repo.Issues()[1]
	s.set("find " + string(mapping.IssueRef(issue.ID)))
	if now := job(t, w, a, "import", `{"dry_run":true}`); now.State != api.JobDone || now.Import.Failed != 1 {
		t.Errorf("the import is %s: %s, %+v", now.State, now.Error, now.Import)
	}
	if !aside(t, a, "import of acme/web#2") {
		t.Error("the failures do not name the issue")
	}
}
