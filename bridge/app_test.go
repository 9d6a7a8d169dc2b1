package bridge_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/config"
	"planbridge/store/redisstore/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// world starts a world that ends with the test.
func world(t *testing.T, o bridgetest.Options) *bridgetest.World {
	t.Helper()
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return bridgetest.StartIn(t, o).World
}

func until(t *testing.T, w *bridgetest.World, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := w.Until(ctx, cond); err != nil {
		t.Fatalf("never: %s", what)
	}
}

// app makes an App of a world, with its configuration as edited.
func app(t *testing.T, w *bridgetest.World, edit func(string) string) *bridge.App {
	t.Helper()
	a, err := bridge.New(bridge.Options{Config: load(t, w, edit), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func load(t *testing.T, w *bridgetest.World, edit func(string) string) *config.Config {
	t.Helper()
	c, err := config.Parse([]byte(edit(w.YAML())), "planbridge.yaml", w.Env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func same(yaml string) string { return yaml }

// status asks for a page and returns how it is answered.
func status(t *testing.T, url string) int {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close() //nolint:errcheck // only read
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode
}

// deliver posts a delivery that is nobody's concern and returns its status.
func deliver(t *testing.T, addr, secret, guid string) int {
	t.Helper()
	body := fmt.Sprintf(`{"action":"opened","issue":{"id":99,"number":99,"title":"T","state":"open","user":{"login":"o"},"created_at":"2030-01-01T00:00:00Z","updated_at":"2030-01-01T00:00:00Z"},"repository":{"id":2500000001,"full_name":%q,"private":true},"sender":{"login":"o"}}`, bridgetest.RepoName)
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/webhooks/github", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", "issues")
	req.Header.Set("X-GitHub-Delivery", guid)
	req.Header.Set("X-Hub-Signature-256", githubtest.Sign(secret, []byte(body)))
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close() //nolint:errcheck // only the status counts
	return r.StatusCode
}

func TestStopAtAnyTime(t *testing.T) {
	w := world(t, bridgetest.Options{Idle: true})
	never := app(t, w, same)
	for range 2 {
		if err := never.Stop(t.Context()); err != nil {
			t.Errorf("Stop without Start: %v", err)
		}
	}
	a := app(t, w, same)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, port, err := net.SplitHostPort(a.Addr()); err != nil || port == "0" {
		t.Errorf("Addr = %q", a.Addr())
	}
	for range 2 {
		if err := a.Stop(t.Context()); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
	if c, err := net.Dial("tcp", a.Addr()); err == nil {
		c.Close() //nolint:errcheck // it should not be there
		t.Error("a stopped App listens")
	}
}

// A port that is taken is an error that names it, and leaves nothing running
// and nothing locked.
func TestStartOnABusyPort(t *testing.T) {
	w := world(t, bridgetest.Options{Idle: true})
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // nothing was written
	for _, listen := range []string{`listen: "127.0.0.1:0"`, `admin_listen: "127.0.0.1:0"`} {
		a := app(t, w, func(yaml string) string {
			key, _, _ := strings.Cut(listen, " ")
			return strings.Replace(yaml, "  "+listen, fmt.Sprintf("  %s %q", key, taken.Addr()), 1)
		})
		if err := a.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "listener") || !strings.Contains(err.Error(), taken.Addr().String()) {
			t.Errorf("Start with %s taken = %v", listen, err)
		}
	}
	if err := w.StartBridge(); err != nil {
		t.Errorf("a start after those: %v", err)
	}
}

// An App starts and stays up while all it talks to is away, and begins to work
// as each comes back.
func TestStartWhileAllIsAway(t *testing.T) {
	r := redistest.Start(t)
	r.Kill()
	w := world(t, bridgetest.Options{Idle: true, Store: r.URL})
	w.GitHub.Down(true)
	w.Planning.Down(true)
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	if code := status(t, w.AdminURL()+"/healthz"); code != http.StatusOK {
		t.Errorf("/healthz while the store is away = %d", code)
	}
	if code := status(t, w.AdminURL()+"/readyz"); code != http.StatusServiceUnavailable {
		t.Errorf("/readyz while the store is away = %d", code)
	}
	if code := deliver(t, w.App.Addr(), bridgetest.WebhookSecret, "one"); code != http.StatusServiceUnavailable {
		t.Errorf("a delivery while the store is away = %d", code)
	}
	r.Restart()
	until(t, w, "ready", func() bool { return status(t, w.AdminURL()+"/readyz") == http.StatusOK })
	if code := deliver(t, w.App.Addr(), bridgetest.WebhookSecret, "one"); code != http.StatusAccepted {
		t.Errorf("a delivery once the store is back = %d", code)
	}
	const title = "Opened while the services are away"
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: title})
	w.GitHub.Down(false)
	w.Planning.Down(false)
	until(t, w, "the card", func() bool { // beside that of the delivery above
		return slices.ContainsFunc(w.Project.Cards(), func(c planningtest.CardState) bool {
			return c.Title == title && len(c.Tasks) == 1
		})
	})
}

// Keys in hand when the App stops are finished or handed back in time, and the next App goes on
// with them.
func TestStopUnderTraffic(t *testing.T) {
	w := world(t, bridgetest.Options{})
	w.Planning.SetLatency(100 * time.Millisecond)
	const issues = 60
	for i := range issues {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprint("Issue ", i)})
	}
	until(t, w, "work", func() bool { return len(w.Project.Cards()) > 3 })
	began := time.Now()
	if err := w.StopBridge(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("stopping took %v", took)
	}
	w.Planning.SetLatency(0)
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	until(t, w, "a card with a task for each issue", func() bool {
		whole := 0
		for _, c := range w.Project.Cards() {
			whole += len(c.Tasks)
		}
		return whole >= issues
	})
	if n := len(w.Project.Cards()); n != issues {
		t.Errorf("%d cards of %d issues", n, issues)
	}
}

// Reload takes routes, policies and secrets over while the App runs.
func TestReload(t *testing.T) {
	w := world(t, bridgetest.Options{})
	until(t, w, "ready", func() bool { return status(t, w.AdminURL()+"/readyz") == http.StatusOK })
	env := func(name string) (string, bool) {
		if name == "GITHUB_WEBHOOK_SECRET" {
			return "the next secret", true
		}
		return w.Env(name)
	}
	c, err := config.Parse([]byte(w.YAML()+"    issues: {labels: [plan]}\n"), "planbridge.yaml", env)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.App.Reload(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if code := deliver(t, w.App.Addr(), bridgetest.WebhookSecret, "old"); code != http.StatusUnauthorized {
		t.Errorf("a delivery with the old secret = %d", code)
	}
	if code := deliver(t, w.App.Addr(), "the next secret", "new"); code != http.StatusAccepted {
		t.Errorf("a delivery with the new secret = %d", code)
	}
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Without a label"})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "With a label", Labels: []string{"plan"}})
	until(t, w, "a card", func() bool { return len(w.Project.Cards()) > 0 })
	polls := w.Planning.Calls(planningtest.OpBacklogItems)
	until(t, w, "some polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > polls+5 })
	if cards := w.Project.Cards(); len(cards) != 1 || cards[0].Title != "With a label" {
		t.Errorf("cards %+v", cards)
	}
}

// Rebuild looks at everything again: a link that the store no longer has is
// restored, and nothing is made twice.
func TestRebuild(t *testing.T) {
	w := world(t, bridgetest.Options{})
	n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Title"})
	until(t, w, "the card", func() bool { return len(w.Project.Cards()) == 1 && len(w.Project.Cards()[0].Tasks) == 1 })
	epoch := w.App.Epoch()
	if err := w.App.Operator().Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, w, "another epoch", func() bool { return w.App.Epoch() != epoch })
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Another title" })
	second := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Second"})
	until(t, w, "work goes on", func() bool {
		cards := w.Project.Cards()
		return second == 2 && len(cards) == 2 && cards[0].Title == "Another title" && len(cards[1].Tasks) == 1
	})
}
