package bridgetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
)

// StartPast makes a world whose present items were made the day before. The returned function
// starts its bridge. It polls and catches up seldom: each listing shows all that was imported.
func StartPast(t testing.TB, o Options) (*TestWorld, func()) {
	t.Helper()
	var now atomic.Bool
	o.Idle, o.Poll, o.CatchUp = true, or(o.Poll, time.Second), or(o.CatchUp, 3*time.Second)
	o.GitHub.Clock = func() time.Time {
		if now.Load() {
			return time.Now()
		}
		return time.Now().Add(-24 * time.Hour)
	}
	w := StartIn(t, o)
	return w, func() {
		t.Helper()
		now.Store(true)
		if err := w.StartBridge(); err != nil {
			t.Fatal(err)
		}
		w.Await("the first poll", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 0 })
	}
}

// Post asks the bridge's admin listener.
func (w *TestWorld) Post(path string, ask, answer any) int {
	w.T.Helper()
	body, err := json.Marshal(ask)
	if err != nil {
		w.T.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.T.Context(), http.MethodPost, w.AdminURL()+path, bytes.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	return w.send(req, answer)
}

// Get asks the bridge's admin listener.
func (w *TestWorld) Get(path string, answer any) int {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, w.AdminURL()+path, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	return w.send(req, answer)
}

func (w *TestWorld) send(req *http.Request, answer any) int {
	w.T.Helper()
	resp, err := w.Client().Do(req)
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
			w.T.Fatal(err)
		}
	}
	return resp.StatusCode
}

// BeginImport begins an import.
func (w *TestWorld) BeginImport(ask status.ImportAsk) status.Job {
	w.T.Helper()
	var job status.Job
	w.Await("the import begins", func() bool { return w.Post("/api/v1/import", ask, &job) == http.StatusOK })
	return job
}

// FinishJob follows a job to its end, for as long as it goes on.
func (w *TestWorld) FinishJob(job status.Job) status.Job {
	w.T.Helper()
	moved, done := time.Now(), 0
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; job.State == status.JobRunning; <-tick.C {
		if n := job.Done + job.Import.Seen; n != done {
			moved, done = time.Now(), n
		}
		if time.Since(moved) > Patience {
			w.T.Fatalf("does not go on: %+v, %+v", job, job.Import)
		}
		w.Await("an answer", func() bool { return w.Get("/api/v1/jobs/"+job.ID, &job) == http.StatusOK })
	}
	if job.State != status.JobDone {
		w.T.Fatalf("job: %+v", job)
	}
	return job
}

// MoreRequests allows for more requests, one for each time that an import waits for a batch to fill
// (gatherPatience of reconcile). Batches of two sizes may wait at once. On a slow machine fewer
// cards are ready together.
func MoreRequests(requests int, began time.Time) int {
	return requests + 2*int(time.Since(began)/(8*time.Second))
}

// OpenMany opens issues whose titles are "old 1" and so on.
func (w *TestWorld) OpenMany(n int) {
	for i := range n {
		w.Repo.Open("octocat", githubtest.IssueSpec{Title: fmt.Sprintf("old %d", i+1), Body: fmt.Sprintf("Text of %d.", i+1)})
	}
}

// CheckPartners checks that each of n issues has exactly one card, with one
// tracking task.
func (w *TestWorld) CheckPartners(n int) {
	w.T.Helper()
	cards := map[string]int{}
	for _, c := range w.Project.Cards() {
		cards[c.Title]++
		if len(c.Tasks) != 1 {
			w.T.Errorf("card %s has %d tasks", c.Title, len(c.Tasks))
		}
	}
	if len(cards) != n {
		w.T.Errorf("%d titles on cards, want %d", len(cards), n)
	}
	for title, many := range cards {
		if many != 1 {
			w.T.Errorf("%d cards for %q", many, title)
		}
	}
	if got := len(w.Repo.Issues()); got != n {
		w.T.Errorf("%d issues, want %d", got, n)
	}
}

// Scaled is the number of issues of an import that would have n, reduced under the race detector.
// There each issue takes many times as long.
func Scaled(n int) int {
	if len(RaceFlags) > 0 {
		return n / 8
	}
	return n
}

// PagesOfAll counts the pages of listings that are of all issues.
func (w *TestWorld) PagesOfAll() (n int) {
	for _, c := range w.GitHub.Journal() {
		if c.Op == "issues.list" && !strings.Contains(c.Path, "since=") && !strings.Contains(c.Path, "creator=") {
			n++
		}
	}
	return n
}
