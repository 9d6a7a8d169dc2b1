package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/webhook"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
)

func TestOnlyThePath(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{http.MethodGet, webhook.Path, 405},
		{http.MethodPut, webhook.Path, 405},
		{http.MethodPost, "/", 404},
		{http.MethodPost, "/webhooks/github/x", 404},
		{http.MethodGet, "/metrics", 404},
	} {
		rec := httptest.NewRecorder()
		w.intake.ServeHTTP(rec, httptest.NewRequest(tt.method, tt.path, nil))
		if rec.Code != tt.status {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.path, rec.Code, tt.status)
		}
	}
}

func TestForged(t *testing.T) {
	w := newWorld(t)
	for name, header := range map[string]string{
		"none":         "",
		"other secret": sign([]byte("guessed"), []byte("{}")),
		"sha1":         "sha1=5257a869e7ecebeda32affa62cdca3fa51cad77e",
	} {
		r := w.request("issues", event("opened", issue(1)))
		r.Header.Set("X-Hub-Signature-256", header)
		t.Log(name)
		w.serve(r, http.StatusUnauthorized, "forged")
	}
	if n := len(w.links(web)); n != 0 {
		t.Errorf("%d links made by strangers", n)
	}
}

func TestEitherSecretVerifies(t *testing.T) {
	w := newWorld(t)
	r := w.raw("ping", []byte("{}"))
	r.Header.Set("X-Hub-Signature-256", sign([]byte("old"), []byte("{}")))
	w.serve(r, http.StatusAccepted, "ignored")
}

// TestSecretsAreLive: a reload that rotates the secret takes effect at once.
func TestSecretsAreLive(t *testing.T) {
	secret := []byte("new")
	w := newWorld(t, func(o *options) {
		o.Trust = func() *webhook.Trust { return webhook.NewTrust(nil, [][]byte{secret}, nil) }
	})
	w.serve(w.raw("ping", []byte("{}")), http.StatusAccepted, "ignored")
	secret = []byte("newer")
	w.serve(w.raw("ping", []byte("{}")), http.StatusUnauthorized, "forged")
}

func TestMalformed(t *testing.T) {
	w := newWorld(t)
	whole := event("opened", issue(1))
	without := func(change func(*mapping.Issue)) webhook.Event {
		return event("opened", issue(1, change))
	}
	for name, r := range map[string]*http.Request{
		"no JSON":       w.raw("issues", []byte("payload")),
		"empty":         w.raw("issues", nil),
		"no issue":      w.raw("issues", []byte(`{"Action":"opened"}`)),
		"no id":         w.request("issues", without(func(i *mapping.Issue) { i.ID = 0 })),
		"no repository": w.request("issues", without(func(i *mapping.Issue) { i.Repo = "" })),
		"no time":       w.request("issues", without(func(i *mapping.Issue) { i.UpdatedAt = time.Time{} })),
		"no event":      header(w.request("issues", whole), "X-GitHub-Event", ""),
		"no GUID":       header(w.request("issues", whole), "X-GitHub-Delivery", ""),
		"long GUID":     header(w.request("issues", whole), "X-GitHub-Delivery", strings.Repeat("g", 200)),
	} {
		t.Log(name)
		w.serve(r, http.StatusBadRequest, "malformed")
	}
}

func header(r *http.Request, name, value string) *http.Request {
	r.Header.Set(name, value)
	return r
}

func TestTooLarge(t *testing.T) {
	w := newWorld(t)
	w.intake.Unpace()
	big := bytes.Repeat([]byte(" "), 25<<20+1)
	w.serve(w.raw("issues", big), http.StatusRequestEntityTooLarge, "too_large")

	chunked := w.raw("issues", big)
	chunked.ContentLength = -1
	w.serve(chunked, http.StatusRequestEntityTooLarge, "too_large")

	endless := w.raw("issues", big)
	read := 0
	endless.ContentLength = 1 << 40
	endless.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) { read += len(p); return len(p), nil }))
	w.serve(endless, http.StatusRequestEntityTooLarge, "too_large")
	if read > 26<<20 {
		t.Errorf("%d bytes read of a body that announces itself as too large", read)
	}
	fits := bytes.Repeat([]byte(" "), 25<<20)
	w.serve(w.raw("issues", fits), http.StatusBadRequest, "malformed")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestCutBody(t *testing.T) {
	w := newWorld(t)
	r := w.request("issues", event("opened", issue(1)))
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), readerFunc(func([]byte) (int, error) {
		return 0, io.ErrUnexpectedEOF
	})))
	w.serve(r, http.StatusBadRequest, "malformed")
}

func TestEventLabelIsBounded(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"pings", "x", strings.Repeat("y", 500)} {
		w.serve(w.raw(name, []byte("{}")), http.StatusAccepted, "ignored")
	}
	w.serve(w.raw("sub_issues", []byte(`{"Action":"sub_issue_added"}`)), http.StatusAccepted, "ignored")
	got := w.counts()
	if len(got) != 2 || got["other ignored"] != 3 || got["sub_issues ignored"] != 1 {
		t.Errorf("counted %v", got)
	}
}

// faultyStore fails or hangs in place of the store it wraps.
type faultyStore struct {
	webhook.Store
	err  error
	hang bool
}

func (s *faultyStore) Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	if s.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.Store.Observe(ctx, project, obs)
}

// TestStoreAway: nothing is acknowledged that is not stored, and the same
// delivery is taken once the store is back.
func TestStoreAway(t *testing.T) {
	faulty := &faultyStore{}
	w := newWorld(t, func(o *options) {
		faulty.Store = o.Store
		o.Store = faulty
		o.Timeout = 50 * time.Millisecond
	})
	again := func() *http.Request {
		w.guid = 0
		return w.request("issues", event("opened", issue(1)))
	}
	faulty.err = errors.New("connection refused")
	w.serve(again(), http.StatusServiceUnavailable, "unavailable")
	faulty.err = store.ErrEpoch
	w.serve(again(), http.StatusServiceUnavailable, "unavailable")
	faulty.err, faulty.hang = nil, true
	w.serve(again(), http.StatusServiceUnavailable, "unavailable")
	if n := len(w.links(web)); n != 0 {
		t.Fatalf("%d links", n)
	}
	faulty.hang = false
	w.options.Timeout = 0
	w.intake = w.options.intake()
	w.serve(again(), http.StatusAccepted, "stored")
	w.onlyLink(web)
}

// TestQueueFull: a full queue refuses what is new and takes what is queued.
func TestQueueFull(t *testing.T) {
	w := newWorldOn(t, boltstore.Options{QueueLimit: 1})
	w.deliver("opened", issue(1), "stored")
	w.serve(w.request("issues", event("opened", issue(2))), http.StatusServiceUnavailable, "full")
	later := issue(1, func(i *mapping.Issue) { i.Title, i.UpdatedAt = "Another", edits.Add(time.Second) })
	w.deliver("edited", later, "stored")
	if got, _ := w.inbox(w.onlyLink(web), 1); got.Title != "Another" {
		t.Errorf("inbox holds %q", got.Title)
	}
}

// TestQueueFullOfOthers: nor is the change of a known issue acknowledged that
// the full queue did not take.
func TestQueueFullOfOthers(t *testing.T) {
	w := newWorldOn(t, boltstore.Options{QueueLimit: 1})
	w.deliver("opened", issue(1), "stored")
	w.work(w.onlyLink(web), nil)
	w.deliver("opened", issue(2), "stored")
	later := issue(1, func(i *mapping.Issue) { i.Title, i.UpdatedAt = "Another", edits.Add(time.Second) })
	w.serve(w.request("issues", event("edited", later)), http.StatusServiceUnavailable, "full")
}

func TestLogNamesTheDelivery(t *testing.T) {
	w := newWorld(t)
	w.deliver("opened", issue(12), "stored")
	link := w.onlyLink(web)
	for _, want := range []string{"delivery=7:guid-1", "issue=acme/web#12", "event=issues", "action=opened", string(link.ID)} {
		if !strings.Contains(w.log.String(), want) {
			t.Errorf("log lacks %s:\n%s", want, w.log)
		}
	}
}

// TestDeliveryWithoutHook: a delivery that names no hook is known by its GUID.
func TestDeliveryWithoutHook(t *testing.T) {
	w := newWorld(t)
	for _, result := range []string{"stored", "duplicate"} {
		r := w.request("issues", event("opened", issue(12)))
		r.Header.Del("X-GitHub-Hook-ID")
		r.Header.Set("X-GitHub-Delivery", "guid-of-it")
		w.serve(r, http.StatusAccepted, result)
	}
	if !strings.Contains(w.log.String(), "delivery=guid-of-it") {
		t.Errorf("log lacks the delivery:\n%s", w.log)
	}
}

// TestStrangersDoNotFillTheLog: a flood is counted, not written down.
func TestStrangersDoNotFillTheLog(t *testing.T) {
	w := newWorld(t)
	for range 200 {
		r := w.raw("issues", []byte("{}"))
		r.Header.Del("X-Hub-Signature-256")
		w.serve(r, http.StatusUnauthorized, "forged")
	}
	if n := strings.Count(w.log.String(), "\n"); n > 10 {
		t.Errorf("%d lines for 200 forgeries", n)
	}
}
