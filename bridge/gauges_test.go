package bridge_test

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
)

// slow is a store some of whose answers are a long time in coming.
type slow struct {
	store.Store
	mu   sync.Mutex
	wait map[string]chan struct{} // closed when the answer may come
}

func (s *slow) hold(what string) (let func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	s.wait[what] = held
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.wait, what)
		close(held)
	})
}

// meet waits as a store does that is away: until the caller loses patience.
func (s *slow) meet(ctx context.Context, what string) error {
	s.mu.Lock()
	held := s.wait[what]
	s.mu.Unlock()
	if held == nil {
		return nil
	}
	select {
	case <-held:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slow) List(ctx context.Context, p mapping.ObjectID, cursor string, limit int) ([]*mapping.Link, string, error) {
	if err := s.meet(ctx, "list"); err != nil {
		return nil, "", err
	}
	return s.Store.List(ctx, p, cursor, limit)
}

func (s *slow) Tally(ctx context.Context, p mapping.ObjectID) (store.Tally, error) {
	if err := s.meet(ctx, "tally"); err != nil {
		return store.Tally{}, err
	}
	return s.Store.Tally(ctx, p)
}

// slowly is an App on such a store, with one issue that is linked.
func slowly(t *testing.T) (*bridgetest.World, *slow, *bridge.App) {
	t.Helper()
	w := world(t, bridgetest.Options{Idle: true})
	bolt, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &slow{Store: bolt, wait: map[string]chan struct{}{}}
	a, err := bridge.New(bridge.Options{Config: load(t, w, same), Logger: slog.New(slog.DiscardHandler), Store: s, Drain: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := bolt.Close(); err != nil {
			t.Error(err)
		}
	})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "One"})
	until(t, w, "the link", func() bool {
		return strings.Contains(scrape(t, a), `planbridge_links{route="acme/web",state="linked"} 1`)
	})
	return w, s, a
}

func scrape(t *testing.T, a *bridge.App) string {
	t.Helper()
	_, text := get(t, a, "/metrics")
	return text
}

// age is how long ago a scrape says that the store told its gauges.
func age(t *testing.T, text string) time.Duration {
	t.Helper()
	_, value, _ := strings.Cut(text, `planbridge_gauges_age_seconds{project="web"} `)
	value, _, _ = strings.Cut(value, "\n")
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil {
		t.Errorf("the age: %v", err)
	}
	return time.Duration(seconds * float64(time.Second))
}

// gaugeNames are what is read off the store.
var gaugeNames = []string{"planbridge_queue_depth ", "planbridge_queue_oldest_seconds ", "planbridge_links{", "planbridge_failures{"}

// TestGaugesNeedNoListing: a store that takes for ever to list its links tells the
// gauges as fast as any other, and so the status page.
func TestGaugesNeedNoListing(t *testing.T) {
	_, s, a := slowly(t)
	defer s.hold("list")()
	for n := range 20 { // a scrape may show what an earlier one counted
		text := scrape(t, a)
		for _, name := range gaugeNames {
			if !strings.Contains(text, "\n"+name) {
				t.Fatalf("scrape %d: no gauge %s", n, name)
			}
		}
	}
	if code, body := get(t, a, "/api/v1/overview"); code != http.StatusOK || !strings.Contains(body, `"linked":1`) {
		t.Errorf("the status is answered with %d %s", code, body)
	}
}

// TestGaugesOutlastASlowStore: while the store does not answer, a scrape shows what was
// read last, and how long ago; nothing else is kept waiting.
func TestGaugesOutlastASlowStore(t *testing.T) {
	w, s, a := slowly(t)
	let := s.hold("tally")
	defer let()
	text := scrape(t, a)
	for _, name := range append(gaugeNames, "planbridge_poll_last_success_timestamp_seconds{") {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("no gauge %s", name)
		}
	}
	if !strings.Contains(text, `planbridge_links{route="acme/web",state="linked"} 1`) {
		t.Error("the last count is gone")
	}
	if d := age(t, text); d < time.Second {
		t.Errorf("the age is %v", d)
	}
	let()
	until(t, w, "a fresh count", func() bool { return age(t, scrape(t, a)) < time.Second })
}
