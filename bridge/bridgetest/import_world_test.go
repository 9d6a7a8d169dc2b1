package bridgetest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
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
		w.until("the first poll", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 0 })
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

// finished follows a job to its end, for as long as it goes on.
func (w *world) finished(job status.Job) status.Job {
	w.t.Helper()
	moved, done := time.Now(), 0
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; job.State == status.JobRunning; <-tick.C {
		if n := job.Done + job.Import.Seen; n != done {
			moved, done = time.Now(), n
		}
		if time.Since(moved) > patience {
			w.t.Fatalf("does not go on: %+v, %+v", job, job.Import)
		}
		w.until("an answer", func() bool { return w.get("/api/v1/jobs/"+job.ID, &job) == http.StatusOK })
	}
	if job.State != status.JobDone {
		w.t.Fatalf("job: %+v", job)
	}
	return job
}

// fewer allows for more requests for every while that an import waits for a
// batch to fill (gatherPatience of reconcile), as batches of two sizes may do at
// once: on a slow machine fewer cards are ready together.
func fewer(requests int, began time.Time) int {
	return requests + 2*int(time.Since(began)/(8*time.Second))
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

// many is how many issues an import has that would have n, were the tests not
// held to the race detector: each takes many times as long then.
func many(n int) int {
	if len(raceFlags) > 0 {
		return n / 8
	}
	return n
}
