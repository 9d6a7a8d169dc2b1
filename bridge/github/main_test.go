package github

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"planbridge/mapping"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a GitHub whose answers each test writes itself.
type fake struct {
	*httptest.Server
	mux *http.ServeMux

	mu   sync.Mutex
	seen []request
}

type request struct {
	method, path, query, auth, body, inm string
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{mux: http.NewServeMux()}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read request: %v", err)
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		f.mu.Lock()
		f.seen = append(f.seen, request{
			r.Method, r.URL.EscapedPath(), r.URL.RawQuery,
			r.Header.Get("Authorization"), string(body), r.Header.Get("If-None-Match"),
		})
		f.mu.Unlock()
		f.mux.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) requests() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]request(nil), f.seen...)
}

// on answers a pattern of http.ServeMux with a status, JSON, and headers in pairs.
func (f *fake) on(pattern string, status int, body string, headers ...string) {
	f.mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { write(w, status, body, headers...) })
}

func write(w http.ResponseWriter, status int, body string, headers ...string) {
	for i := 0; i+1 < len(headers); i += 2 {
		w.Header().Set(headers[i], headers[i+1])
	}
	w.WriteHeader(status)
	io.WriteString(w, body) //nolint:errcheck // the client may be gone, which is what some tests are about
}

// client returns a client of f; with may change its options.
func (f *fake) client(t *testing.T, with ...func(*Options)) *Client {
	t.Helper()
	o := Options{APIURL: f.URL, Token: "secret-token", Timeout: 5 * time.Second}
	for _, w := range with {
		w(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// issueJSON is a full issue as REST shows it; fields are merged over it.
func issueJSON(base, repo string, number int, fields map[string]any) string {
	m := map[string]any{
		"id": 1000 + number, "node_id": "I_1", "number": number, "title": "T", "body": "B", "state": "open",
		"url":            base + "/repos/" + repo + "/issues/1",
		"repository_url": base + "/repos/" + repo, "state_reason": nil,
		"labels":    []any{map[string]any{"id": 1, "name": "bug"}, map[string]any{"id": 2, "name": "c#"}},
		"assignees": []any{map[string]any{"login": "octocat"}}, "milestone": map[string]any{"number": 4},
		"user": map[string]any{"login": "hubot", "type": "User"}, "author_association": "MEMBER",
		"locked": false, "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-03T03:04:05Z",
	}
	maps.Copy(m, fields)
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// ignorePage takes a page and does nothing.
func ignorePage([]mapping.Issue, time.Time) error { return nil }

// pass lets d of a synctest bubble's time go by.
func pass(d time.Duration) { <-time.After(d) }

// sentinels are what errors have to match exactly one of.
var sentinels = map[string]error{
	"unauthorized": mapping.ErrUnauthorized, "forbidden": mapping.ErrForbidden, "not found": mapping.ErrNotFound,
	"gone": mapping.ErrGone, "moved": mapping.ErrMoved, "rejected": mapping.ErrRejected,
	"unavailable": mapping.ErrUnavailable, "uncertain": mapping.ErrUncertain,
}

// oneJSON is as much of issue 1 of a/b as an answer has to have.
const oneJSON = `{"id":1,"number":1,"title":"t","state":"open","repository_url":"https://api.github.com/repos/a/b"}`
