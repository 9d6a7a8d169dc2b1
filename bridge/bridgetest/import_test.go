package bridgetest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
)

// past is a world whose items so far were made the day before: its bridge is
// not started yet.
func past(t testing.TB, o bridgetest.Options) (*world, func()) {
	t.Helper()
	var now atomic.Bool
	o.Idle = true
	o.GitHub.Clock = func() time.Time {
		if now.Load() {
			return time.Now()
		}
		return time.Now().Add(-24 * time.Hour)
	}
	w := start(t, o)
	return w, func() {
		t.Helper()
		now.Store(true)
		if err := w.StartBridge(); err != nil {
			t.Fatal(err)
		}
		w.until("the first polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) >= 3 })
	}
}

// post asks the bridge's admin listener.
func (w *world) post(path string, ask, answer any) int {
	w.t.Helper()
	body, err := json.Marshal(ask)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.AdminURL()+path, bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	return w.send(req, answer)
}

func (w *world) get(path string, answer any) int {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.AdminURL()+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.send(req, answer)
}

func (w *world) send(req *http.Request, answer any) int {
	w.t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
			w.t.Fatal(err)
		}
	}
	return resp.StatusCode
}

// imports begins an import.
func (w *world) imports(ask status.ImportAsk) status.Job {
	w.t.Helper()
	var job status.Job
	w.until("the import begins", func() bool { return w.post("/api/v1/import", ask, &job) == http.StatusOK })
	return job
}

// finished follows a job to its end.
func (w *world) finished(job status.Job) status.Job {
	w.t.Helper()
	last := time.Now().Add(4 * patience)
	for job.State == status.JobRunning {
		if time.Now().After(last) {
			w.t.Fatalf("never ends: %+v, %+v", job, job.Import)
		}
		w.until("an answer", func() bool { return w.get("/api/v1/jobs/"+job.ID, &job) == http.StatusOK })
	}
	if job.State != status.JobDone {
		w.t.Fatalf("job: %+v", job)
	}
	return job
}

// openMany opens issues whose titles are "old 1" and so on.
func (w *world) openMany(n int) {
	for i := range n {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprintf("old %d", i+1), Body: fmt.Sprintf("Text of %d.", i+1)})
	}
}

// onePartner checks that each of n issues has exactly one card, with one
// tracking task.
func (w *world) onePartner(n int) {
	w.t.Helper()
	cards := map[string]int{}
	for _, c := range w.Project.Cards() {
		cards[c.Title]++
		if len(c.Tasks) != 1 {
			w.t.Errorf("card %s has %d tasks", c.Title, len(c.Tasks))
		}
	}
	if len(cards) != n {
		w.t.Errorf("%d titles on cards, want %d", len(cards), n)
	}
	for title, many := range cards {
		if many != 1 {
			w.t.Errorf("%d cards for %q", many, title)
		}
	}
	if got := len(w.Repo.Issues()); got != n {
		w.t.Errorf("%d issues, want %d", got, n)
	}
}

func TestImport(t *testing.T) { onBothStores(t, imports) }

// imports shows that a thousand old issues become cards, in batches.
func imports(t *testing.T, o bridgetest.Options) {
	const n = 1000
	w, now := past(t, o)
	w.openMany(n)
	now()
	w.Planning.ResetJournal()
	job := w.finished(w.imports(status.ImportAsk{}))
	if r := job.Import; r.Cards != n || r.Failed+r.Dropped > 0 || job.Done != n {
		t.Errorf("job %+v, %+v", job, r)
	}
	w.onePartner(n)
	if got := w.Planning.Calls(planningtest.OpCardCreate); got > n/100+3 {
		t.Errorf("%d calls made %d cards", got, n)
	}
	if got := w.Planning.Calls(planningtest.OpTaskCreate); got != n {
		t.Errorf("%d calls made %d tasks", got, n)
	}
	if got := w.Planning.Calls(planningtest.OpCardUpdate, planningtest.OpTaskUpdate); got > 0 {
		t.Errorf("%d other calls", got)
	}
	for _, c := range w.Project.Cards() {
		if !strings.HasPrefix(c.Summary, "Text of ") {
			t.Errorf("summary %q", c.Summary)
		}
	}
	w.settled()
	again := w.finished(w.imports(status.ImportAsk{}))
	if r := again.Import; r.Known != n || r.Cards != 0 || w.Planning.Calls(planningtest.OpTaskCreate) != n {
		t.Errorf("again: %+v", r)
	}
}
