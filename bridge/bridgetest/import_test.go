package bridgetest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
)

// TestImport: a thousand old issues become cards, in batches. TestImportBrokenOff imports on
// Redis, too.
func TestImport(t *testing.T) {
	t.Parallel()
	n := bridgetest.Scaled(1000)
	w, now := past(t, bridgetest.Options{})
	w.OpenMany(n)
	now()
	w.Planning.ResetJournal()
	began := time.Now()
	job := w.FinishJob(w.BeginImport(status.ImportAsk{}))
	most := bridgetest.MoreRequests(n/100+3, began)
	if r := job.Import; r.Cards != n || r.Failed+r.Dropped > 0 || job.Done != n {
		t.Errorf("job %+v, %+v", job, r)
	}
	w.CheckPartners(n)
	if got := w.Planning.Calls(planningtest.OpCardCreate); got > most {
		t.Errorf("%d calls made %d cards, want %d at most", got, n, most)
	}
	if got := w.Planning.Calls(planningtest.OpTaskCreate); got != n {
		t.Errorf("%d calls made %d tasks", got, n)
	}
	if got := w.Planning.Calls(planningtest.OpCardUpdate, planningtest.OpTaskUpdate); got > 0 {
		t.Errorf("%d other calls", got)
	}
	if walks := float64(w.PagesOfAll()) / float64((n+99)/100); walks > 3 {
		t.Errorf("the issues were walked %.1f times: once to count, once to import, once to find nothing new", walks)
	}
	for _, c := range w.Project.Cards() {
		if !strings.HasPrefix(c.Summary, "Text of ") {
			t.Errorf("summary %q", c.Summary)
		}
	}
	w.AwaitSettled()
	again := w.FinishJob(w.BeginImport(status.ImportAsk{}))
	if r := again.Import; r.Known != n || r.Cards != 0 || w.Planning.Calls(planningtest.OpTaskCreate) != n {
		t.Errorf("again: %+v", r)
	}
}

// past is a world whose items so far were made the day before.
func past(t testing.TB, o bridgetest.Options) (*world, func()) {
	t.Helper()
	w, now := bridgetest.StartPast(t, o)
	return &world{w}, now
}

// An import that is broken off by the end of the service goes on where it was,
// with two at once.
func TestImportBrokenOff(t *testing.T) { onBothStores(t, brokenOff) }

func brokenOff(t *testing.T, o bridgetest.Options) {
	n := bridgetest.Scaled(600)
	o.LeaseTTL = 10 * time.Second
	w, now := past(t, o)
	w.OpenMany(n)
	now()
	w.BeginImport(status.ImportAsk{})
	w.Await("some cards", func() bool { return len(w.Project.Cards()) > 0 })
	if err := w.StopBridge(); err != nil {
		t.Fatal(err)
	}
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	one := w.BeginImport(status.ImportAsk{})
	two := w.BeginImport(status.ImportAsk{State: "all"})
	if same := w.BeginImport(status.ImportAsk{}); same.ID != one.ID || one.ID == two.ID {
		t.Errorf("jobs %s, %s, %s", one.ID, same.ID, two.ID)
	}
	w.FinishJob(one)
	w.FinishJob(two)
	w.AwaitSettled()
	w.CheckPartners(n)
}

// Live changes do not wait for an import.
func TestImportAndLiveChanges(t *testing.T) {
	t.Parallel()
	const n = 800 // the points of a minute bound how soon a live change crosses, and how long the import takes
	w, now := past(t, bridgetest.Options{})
	w.OpenMany(n)
	now()
	w.Planning.SetLatency(250 * time.Millisecond) // so that the import takes a while
	job := w.BeginImport(status.ImportAsk{})
	w.Await("the import is under way", func() bool { return len(w.Project.Cards()) > 0 })
	live, card := w.OpenIssue(githubtest.IssueSpec{Title: "live"})
	w.Repo.Edit(live, "octocat", func(e *githubtest.IssueEdit) { e.Title = "live, edited" })
	w.Await("the edit on the card", func() bool { return w.Project.Card(card).Title == "live, edited" })
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "old 1, edited" })
	if w.Get("/api/v1/jobs/"+job.ID, &job) != http.StatusOK || job.State != status.JobRunning {
		t.Errorf("the import was over before live changes had crossed: %+v", job)
	}
	w.Planning.SetLatency(0)
	w.FinishJob(job)
	w.AwaitSettled()
	w.CheckPartners(n + 1)
	w.Await("the edit of an old one on its card", func() bool {
		for _, c := range w.Project.Cards() {
			if c.Title == "old 1, edited" {
				return true
			}
		}
		return false
	})
}

// Sub-issues follow their parents, whatever the order of the list.
func TestImportSubIssues(t *testing.T) {
	t.Parallel()
	w, now := past(t, bridgetest.Options{})
	w.OpenMany(4)
	w.Repo.AddSubIssue(4, 1)
	w.Repo.AddSubIssue(4, 2)
	now()
	job := w.FinishJob(w.BeginImport(status.ImportAsk{}))
	if r := job.Import; r.Cards != 2 || r.Children != 2 || r.Dropped > 0 {
		t.Errorf("import %+v", r)
	}
	w.AwaitSettled()
	tasks := map[string]int{}
	for _, c := range w.Project.Cards() {
		tasks[c.Title] = len(c.Tasks)
	}
	if len(tasks) != 2 || tasks["old 3"] != 1 || tasks["old 4"] != 3 {
		t.Errorf("cards and their tasks: %v", tasks)
	}
}

// TestImportBelowAClosedParent: a sub-issue whose parent stays out gets a card of its own, as the dry
// run says, and its own sub-issue follows it.
func TestImportBelowAClosedParent(t *testing.T) {
	t.Parallel()
	w, now := past(t, bridgetest.Options{})
	w.OpenMany(3)
	w.Repo.AddSubIssue(1, 2)
	w.Repo.AddSubIssue(2, 3)
	w.Repo.Close(1, "octocat", "")
	now()
	plan := w.FinishJob(w.BeginImport(status.ImportAsk{DryRun: true})).Import
	run := w.FinishJob(w.BeginImport(status.ImportAsk{})).Import
	w.AwaitSettled()
	if cards := w.Project.Cards(); len(cards) != 1 || cards[0].Title != "old 2" || len(cards[0].Tasks) != 2 {
		t.Errorf("cards %+v", cards)
	}
	if plan.Cards != 1 || plan.Children != 1 || run.Cards != 1 || run.Handed != 1 {
		t.Errorf("the plan %+v, the run %+v", plan, run)
	}
}

// Of sub-issues, too, an import takes the closed ones where all are taken, of
// parents that it imports and of those that were linked before.
func TestImportClosedSubIssues(t *testing.T) {
	t.Parallel()
	w, now := past(t, bridgetest.Options{})
	w.OpenMany(5)
	for child, parent := range map[int]int{2: 1, 3: 1, 5: 4} {
		w.Repo.AddSubIssue(parent, child)
	}
	for _, n := range []int{2, 4, 5} {
		w.Repo.Close(n, "octocat", "")
	}
	now()
	tasks := func() map[string]string {
		out := map[string]string{}
		for _, c := range w.Project.Cards() {
			for _, task := range c.Tasks {
				out[c.Title] += task.Title + " " + task.State + "; "
			}
		}
		return out
	}
	want := func(first, fourth string) {
		t.Helper()
		w.Await("the tasks", func() bool {
			got := tasks()
			return got["old 1"] == "GitHub acme/web#1 todo; old 3 todo; "+first && got["old 4"] == fourth
		})
		w.AwaitSettled()
	}
	w.FinishJob(w.BeginImport(status.ImportAsk{}))
	want("", "")
	all := w.FinishJob(w.BeginImport(status.ImportAsk{State: "all"}))
	if r := all.Import; r.Cards != 1 || r.Children != 2 || r.Handed != 2 || r.Dropped > 0 {
		t.Errorf("all: %+v", r)
	}
	want("old 2 done; ", "GitHub acme/web#4 done; old 5 done; ")
	again := w.FinishJob(w.BeginImport(status.ImportAsk{State: "all"}))
	if r := again.Import; r.Known != 5 || r.Children+r.Handed+r.Dropped > 0 {
		t.Errorf("again: %+v", r)
	}
}

// TestImportSignsBeforeItTouches: the card of a pair that an import joins has its footer before
// anything changes the issue. So the two find each other again whenever the store is lost.
func TestImportSignsBeforeItTouches(t *testing.T) {
	t.Parallel()
	for winner, other := range map[string]string{"planning": "github", "github": "planning"} {
		t.Run(winner, func(t *testing.T) {
			t.Parallel()
			w, now := past(t, bridgetest.Options{Route: "conflicts: {default: " + winner + "}"})
			n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "same", Body: "from github", Labels: []string{"points/3"}})
			five := 5.0
			card := w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "same", Summary: "from planning", Estimate: &five})
			now()
			var touched, signed atomic.Bool
			w.GitHub.BeforeWrite(func(_, _ string, number int) {
				if number == n && touched.CompareAndSwap(false, true) {
					signed.Store(strings.Contains(w.Project.Card(card).Summary, "Synced by planbridge"))
				}
			})
			w.FinishJob(w.BeginImport(status.ImportAsk{Match: "title"}))
			w.AwaitSettled()
			if !touched.Load() || !signed.Load() {
				t.Errorf("touched %t, the card was signed then: %t", touched.Load(), signed.Load())
			}
			if got := w.Project.Card(card).Summary; !strings.HasPrefix(got, "from "+winner) || strings.Contains(got, "from "+other) || strings.Count(got, "Synced by") != 1 {
				t.Errorf("summary %q", got)
			}
			if got := w.Repo.Issue(n).Body; got != "from "+winner {
				t.Errorf("body %q", got)
			}
		})
	}
}

// BenchmarkImport prints what a thousand cards cost in calls of planning; the
// tracking tasks cost one more each.
func BenchmarkImport(b *testing.B) {
	const n = 1000
	for range b.N {
		b.StopTimer()
		w, now := past(b, bridgetest.Options{Poll: time.Hour})
		w.OpenMany(n)
		now()
		w.Planning.ResetJournal()
		w.GitHub.ResetJournal()
		b.StartTimer()
		w.FinishJob(w.BeginImport(status.ImportAsk{}))
		b.StopTimer()
		tasks := w.Planning.Calls(planningtest.OpTaskCreate)
		b.ReportMetric(float64(w.Planning.Calls()-tasks), "planning-calls/1000-cards")
		b.ReportMetric(float64(len(w.GitHub.Journal())), "github-calls/1000-cards")
		b.StartTimer()
	}
}

// Old cards become issues within the budget of GitHub's writes, of which live
// changes get theirs.
func TestImportCards(t *testing.T) {
	t.Parallel()
	const n = 40
	w := start(t, bridgetest.Options{Idle: true, Config: func(yaml string) string {
		return strings.Replace(strings.Replace(yaml, "writes_per_minute: 10000", "writes_per_minute: 150", 1), "writes_per_hour: 600000", "writes_per_hour: 9000", 1)
	}})
	for i := range n {
		w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: fmt.Sprintf("old %d", i+1)})
	}
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	// The first poll takes what is there for old.
	w.Await("the polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) >= 3 })
	dry := w.FinishJob(w.BeginImport(status.ImportAsk{DryRun: true}))
	if r := dry.Import; r.Issues != n || r.Forecast < 5 || len(w.Repo.Issues()) > 0 {
		t.Errorf("dry run %+v, %d issues", r, len(w.Repo.Issues()))
	}
	job := w.BeginImport(status.ImportAsk{})
	w.Await("some issues", func() bool { return len(w.Repo.Issues()) > 5 })
	live := w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "live"})
	w.Await("the issue of the live card", func() bool {
		issues := w.Repo.Issues()
		return slices.ContainsFunc(issues, func(i githubtest.IssueState) bool { return i.Title == "live" })
	})
	if w.Get("/api/v1/jobs/"+job.ID, &job) != http.StatusOK || job.State != status.JobRunning {
		t.Errorf("the import was over before the live card had its issue: %+v", job)
	}
	w.FinishJob(job)
	titles := map[string]int{}
	for _, i := range w.Repo.Issues() {
		titles[i.Title]++
	}
	if len(titles) != n+1 || titles["live"] != 1 || len(w.Repo.Issues()) != n+1 || w.Project.Card(live).Title != "live" {
		t.Errorf("issues: %v", titles)
	}
}

// An issue that the list shows on two pages, as another one before it was reopened
// in between, is counted and listed once.
func TestImportCountsOnce(t *testing.T) {
	t.Parallel()
	const n = 102
	w, begin := past(t, bridgetest.Options{})
	w.OpenMany(n)
	w.Repo.Close(1, "octocat", "")
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "old 101"})
	begin()
	for _, ask := range []status.ImportAsk{{DryRun: true}, {DryRun: true, Match: "title"}} {
		second := w.GitHub.Fault(githubtest.Fault{Match: "issues.list", Kind: githubtest.Delay, When: func(c githubtest.Call) bool {
			return strings.Contains(c.Path, "state=open") && strings.Contains(c.Path, "&page=2")
		}})
		job := w.BeginImport(ask)
		w.Await("the second page is asked for", func() bool { return second.Count() == 1 })
		w.Repo.Reopen(1, "octocat")
		second.Release()
		r := w.FinishJob(job).Import
		named := map[string]int{}
		for _, i := range r.Items {
			if named[i.Where]++; named[i.Where] > 1 {
				t.Errorf("%s is named twice", i.Where)
			}
		}
		if r.Cards+r.Joined != n-1 || r.Seen-r.Known != n-1 || (r.Joined == 1) != (ask.Match != "") {
			t.Errorf("match %q: of %d issues %d become cards and %d are joined, want %d in all", ask.Match, r.Seen-r.Known, r.Cards, r.Joined, n-1)
		}
		w.Repo.Close(1, "octocat", "")
	}
}
