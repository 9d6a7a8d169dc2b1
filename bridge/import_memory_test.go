package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge"
	api "planbridge/bridge/status"
	"planbridge/config"
)

// endless is both services with so many issues that none of them is stored. Each page is made on
// request, and every other heap measurement is taken then.
type endless struct {
	issues int
	mu     sync.Mutex
	peak   uint64 // live heap, in bytes
}

func (e *endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	var answer any = []any{}
	switch {
	case r.URL.Path == "/user":
		answer = map[string]any{"login": "bot"}
	case strings.HasSuffix(r.URL.Path, "/issues"):
		answer = e.page(w, r)
	case strings.HasPrefix(r.URL.Path, "/repos/"):
		answer = map[string]any{"full_name": "acme/web", "private": true}
	}
	_ = json.NewEncoder(w).Encode(answer) // a client that has left needs no answer
}

func (e *endless) page(w http.ResponseWriter, r *http.Request) any {
	page, err := strconv.Atoi(r.FormValue("page"))
	if err != nil {
		page = 1
	}
	if page%10 == 0 {
		e.look()
	}
	if page*100 < e.issues {
		q := r.URL.Query()
		q.Set("page", strconv.Itoa(page+1))
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?%s>; rel="next"`, r.Host, r.URL.Path, q.Encode()))
	}
	out := make([]map[string]any, 100)
	for i := range out {
		n := (page-1)*100 + i + 1
		out[i] = map[string]any{
			"id": 1000 + n, "number": n, "title": fmt.Sprint("issue ", n), "body": strings.Repeat("word ", 200), "state": "open",
			"user": map[string]any{"login": "octocat"}, "created_at": "2020-01-01T00:00:00Z", "updated_at": "2020-01-01T00:00:00Z",
			"url": fmt.Sprintf("http://%s/repos/acme/web/issues/%d", r.Host, n), "sub_issues_summary": map[string]any{"total": 0},
		}
	}
	return out
}

func (e *endless) look() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.peak = max(e.peak, m.HeapAlloc)
}

// surveyPeak is the most that is live on the heap while an import counts so
// many issues.
func surveyPeak(tb testing.TB, issues int) uint64 {
	tb.Helper()
	e := &endless{issues: issues}
	s := httptest.NewServer(e)
	defer s.Close()
	text := fmt.Sprintf(`
github: {api_url: %[1]q, webhook_secrets: [env:SECRET], token: env:SECRET}
planning: {base_url: %[1]q, projects: {web: {id: 54744060c955ca8169c61ee6, secret: env:SECRET, username: bridge}}}
marker_key: env:SECRET
store: {url: "file:%[2]s"}
routes: [{repository: acme/web, project: web, bucket: Incoming}]
`, s.URL, filepath.Join(tb.TempDir(), "planbridge.db"))
	c, err := config.Parse([]byte(text), "planbridge.yaml", func(string) (string, bool) { return strings.Repeat("0123456789", 4), true })
	if err != nil {
		tb.Fatal(err)
	}
	app, err := bridge.New(bridge.Options{Config: c, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := app.Stop(context.Background()); err != nil {
			tb.Error(err)
		}
	}()
	if err := app.Open(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	job := ask(tb, app.Handler(), http.MethodPost, "/api/v1/import", `{"dry_run": true}`)
	for tick := time.NewTicker(10 * time.Millisecond); job.State == api.JobRunning; <-tick.C {
		job = ask(tb, app.Handler(), http.MethodGet, "/api/v1/jobs/"+job.ID, "")
	}
	if job.State != api.JobDone || job.Import.Cards != issues {
		tb.Fatalf("job %s %s: %d cards of %d", job.State, job.Error, job.Import.Cards, issues)
	}
	return e.peak
}

func ask(tb testing.TB, h http.Handler, method, path, body string) (job api.Job) {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), method, "http://localhost"+path, strings.NewReader(body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), &job); err != nil || w.Code != http.StatusOK {
		tb.Fatalf("%s: status %d %s", path, w.Code, w.Body)
	}
	return job
}

// An import's memory does not grow with the repository: a dry run lists a bounded number of items.
func TestMeasuredImportMemory(t *testing.T) {
	few, many := surveyPeak(t, 10_000), surveyPeak(t, 40_000)
	t.Logf("live heap at its peak: %.1f MiB with 10,000 issues, %.1f MiB with 40,000", float64(few)/(1<<20), float64(many)/(1<<20))
	if many > few+few/2+(4<<20) {
		t.Errorf("live heap of %d bytes with 10,000 issues, %d with 40,000", few, many)
	}
}
