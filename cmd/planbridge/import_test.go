package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/boltstore"
)

// older is a world with issues and cards from the day before, and no bridge.
func older(t *testing.T, o bridgetest.Options, issues ...string) *operator {
	t.Helper()
	var today atomic.Bool
	o.GitHub.Clock = func() time.Time {
		if today.Load() {
			return time.Now()
		}
		return time.Now().Add(-24 * time.Hour)
	}
	op := newOperator(t, o, nil)
	for _, title := range issues {
		op.world.Repo.Open("octocat", githubtest.IssueSpec{Title: title})
	}
	today.Store(true)
	return op
}

func (op *operator) job(args ...string) status.Job {
	op.t.Helper()
	var job status.Job
	r := op.run(append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(r.out), &job); err != nil {
		op.t.Fatalf("planbridge %s: %v: %+v", strings.Join(args, " "), err, r)
	}
	return job
}

// A dry run says what would be done and does nothing; an import without a
// service does it and ends.
func TestImportWithoutService(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one", "two")
	w := op.world
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "done long ago"})
	w.Repo.Close(3, "octocat", "")
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "a card"})
	w.Project.NewCard("Later", "alice", planningtest.CardSpec{Title: "elsewhere"})

	dry := op.job("import", "--dry-run")
	if r := dry.Import; r.Cards != 2 || r.Issues != 1 || len(r.Items) != 3 || r.Items[0].Where != "acme/web#1" || r.Items[2].What != "issue" || dry.State != status.JobDone {
		t.Errorf("dry run: %+v", r)
	}
	if text := op.fine("import", "--dry-run", "--route", "acme/web", "--state", "all"); !strings.Contains(text, "3 issues would become cards\n") || !strings.Contains(plain(text), "acme/web#3  card") {
		t.Errorf("dry run:\n%s", text)
	}
	if len(w.Project.Cards()) != 2 || len(w.Repo.Issues()) != 3 || w.Writes() > 0 {
		t.Errorf("a dry run wrote: %+v, %+v", w.Project.Cards(), w.Repo.Issues())
	}
	if r := op.run("import", "--route", "nobody"); r.status != exitUsage || !strings.Contains(r.stderr, "route nobody: not found") {
		t.Errorf("a route of nobody: %+v", r)
	}

	text := op.fine("import", "--state", "all")
	if !strings.Contains(text, "3 issues became cards\n1 card became an issue\n") {
		t.Errorf("import:\n%s", text)
	}
	titles := map[string]string{}
	for _, c := range w.Project.Cards() {
		if len(c.Tasks) == 1 {
			titles[c.Title] = w.Project.Tasks(c.ID)[0].State
		}
	}
	if want := (map[string]string{"one": "todo", "two": "todo", "done long ago": "done", "a card": "todo"}); fmt.Sprint(titles) != fmt.Sprint(want) {
		t.Errorf("tracking tasks: %v, want %v", titles, want)
	}
	if n := len(w.Repo.Issues()); n != 4 || w.Repo.Issue(4).Title != "a card" {
		t.Errorf("%d issues: %+v", n, w.Repo.Issues())
	}
	if again := op.job("import", "--state", "all"); again.Import.Known < 3 || again.Import.Cards+again.Import.Issues != 0 || len(w.Repo.Issues()) != 4 {
		t.Errorf("again: %+v", again.Import)
	}
	if text := op.fine("verify"); !strings.HasPrefix(text, "4 links compared, 0 differ\n") {
		t.Errorf("verify:\n%s", text)
	}
}

// Each count has a line of its own, and none where it is nothing.
func TestImportReport(t *testing.T) {
	var out strings.Builder
	r := status.ImportResult{
		Seen: 99, Known: 20, Cards: 9, Issues: 8, Joined: 7, Children: 6, Ambiguous: 5,
		Out: 4, OutWhy: map[string]int{"closed": 4}, Handed: 3, Dropped: 2, Failed: 1,
	}
	if err := importReport(&out, &status.Job{Import: &r}); err != nil {
		t.Fatal(err)
	}
	want := `99 issues seen, 20 linked already
9 issues became cards
8 cards became issues
7 pairs joined
6 sub-issues follow their parents
5 left alone: more than one has the title
4 issues and cards stay out: closed (4)
3 sub-issues were handed to their parents, to become tasks
2 were not to be imported any more when their turn came
1 given up (planbridge failures)
`
	if out.String() != want {
		t.Errorf("report:\n%swant:\n%s", out.String(), want)
	}
	out.Reset()
	if err := importReport(&out, &status.Job{Import: &status.ImportResult{}}); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("report of nothing: %v\n%s", err, out.String())
	}
}

// Partners that people made are joined; uncertain matches are left alone.
func TestImportMatch(t *testing.T) {
	op := older(t, bridgetest.Options{}, "Same", "Twice", "Twice", "Only here", "Two cards")
	w := op.world
	card := func(title, summary string) string {
		return w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: title, Summary: summary})
	}
	same := card("Same ", "What planning knows.")
	card("Twice", "")
	card("Two cards", "")
	card("Two cards", "")
	card("Only there", "")
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	op.until("the first polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 2 })
	job := op.job("import", "--match", "title")
	if r := job.Import; r.Joined != 1 || r.Ambiguous != 3 || r.Cards != 1 || r.Issues != 1 || len(r.Items) != 3 {
		t.Errorf("import: %+v", r)
	}
	if n := len(w.Project.Cards()); n != 6 {
		t.Errorf("%d cards", n)
	}
	if n := len(w.Repo.Issues()); n != 6 {
		t.Errorf("%d issues", n)
	}
	if text := op.fine("links"); !strings.Contains(text, "acme/web#1  "+same) {
		t.Errorf("links:\n%s", text)
	}
	op.until("planning's text on the issue, the footer on the card", func() bool {
		return w.Repo.Issue(1).Body == "What planning knows." && strings.Contains(w.Project.Card(same).Summary, "acme/web#1")
	})
	if again := op.job("import", "--match", "title"); again.Import.Joined+again.Import.Cards+again.Import.Issues != 0 {
		t.Errorf("again: %+v", again.Import)
	}
}

// Differences are found, and brought to agreement.
func TestVerify(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one", "two")
	w := op.world
	op.fine("import")
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "ONE" }) // no bridge is there to hear of it
	card := w.Project.Cards()[1]
	w.Project.EditTask(card.Tasks[0].ID, "alice", func(e *planningtest.TaskEdit) { e.State = "done" })
	r := op.run("verify")
	if r.status != exitFailure || r.stderr != "" || !strings.Contains(r.out, "2 links compared, 2 differ\n") || !strings.Contains(plain(r.out), "acme/web#1  acme/web  title  ONE  one  GitHub changed") {
		t.Errorf("verify: %d\n%s%s", r.status, r.out, r.stderr)
	}
	op.fine("verify", "--repair")
	if text := op.fine("verify", "--route", "acme/web"); !strings.Contains(text, "2 links compared, 0 differ\n") {
		t.Errorf("verify after the repair:\n%s", text)
	}
	if w.Project.Cards()[0].Title != "ONE" || w.Repo.Issue(2).State != "closed" {
		t.Errorf("not repaired: %+v %+v", w.Project.Cards(), w.Repo.Issues())
	}
	w.Project.DeleteCard(card.ID)
	if r := op.run("verify"); r.status != exitFailure || !strings.Contains(r.out, "the card is gone") {
		t.Errorf("verify without a card: %+v", r)
	}
}

// While a route is paused its changes wait; a restart does not end that.
func TestPause(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one")
	w := op.world
	op.fine("import")
	if text := op.fine("pause", "acme/web"); text != "route acme/web is paused\n" {
		t.Errorf("pause: %q", text)
	}
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "ONE" })
	op.until("the change waits", func() bool {
		queues, err := w.App.Operator().Overview(t.Context())
		return err == nil && queues["web"].Waiting["paused:acme/web"] == 1
	})
	if got := w.Project.Cards()[0].Title; got != "one" {
		t.Errorf("the card's title is %q", got)
	}
	if text := op.fine("links"); !strings.Contains(text, "its route is paused") {
		t.Errorf("links:\n%s", text)
	}
	if text := op.fine("resume", "acme/web", "-o", "json"); !strings.Contains(text, `"accepted": "acme/web"`) {
		t.Errorf("resume: %q", text)
	}
	op.until("the change on the card", func() bool { return w.Project.Cards()[0].Title == "ONE" })
	for _, name := range []string{"pause", "resume"} {
		if r := op.run(name, "nobody"); r.status != exitUsage || !strings.Contains(r.stderr, "route nobody: not found") {
			t.Errorf("%s nobody: %+v", name, r)
		}
	}
}

// An import that is killed in the middle leaves nothing that the next one does
// not see: exactly one card each.
func TestImportKilled(t *testing.T) {
	const n = 150
	titles := make([]string, n)
	for i := range titles {
		titles[i] = fmt.Sprintf("old %d", i)
	}
	op := older(t, bridgetest.Options{}, titles...)
	for _, cards := range []int{0, 1, n / 2} {
		cmd := exec.Command(binary, "import", "--config", op.config, "--lease", "4s")
		for name, value := range op.env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		op.until("the kill", func() bool { return len(op.world.Project.Cards()) >= cards && op.world.Planning.Calls() > 0 })
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
	}
	if r := op.run("import", "--lease", "4s"); r.status != exitOK {
		t.Errorf("import: %+v", r)
	}
	made := map[string]int{}
	for _, c := range op.world.Project.Cards() {
		if made[c.Title]++; len(c.Tasks) != 1 {
			t.Errorf("card %s has %d tasks", c.Title, len(c.Tasks))
		}
	}
	for title, times := range made {
		if times != 1 {
			t.Errorf("%d cards for %q", times, title)
		}
	}
	if len(made) != n || len(op.world.Repo.Issues()) != n {
		t.Errorf("%d titles on cards, %d issues", len(made), len(op.world.Repo.Issues()))
	}
}

// An issue whose card is being made when an import begins is not linked already: the
// import says so, and ends when it is.
func TestImportWaitsForWhatIsUnderWay(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one", "two")
	w := op.world
	s, err := boltstore.Open(filepath.Join(filepath.Dir(op.config), "planbridge.db"), boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	route := mapping.Route{Name: "acme/web", Repositories: []string{"acme/web"}, NewCardsIn: "acme/web", Project: mapping.ObjectID(w.Project.ID()), Bucket: bridgetest.Bucket}
	issue := w.Repo.Issue(1)
	link := route.EnterIssue(&mapping.Issue{ID: issue.ID, Repo: "acme/web", Number: 1, Author: issue.Author, CreatedAt: issue.CreatedAt}, time.Now().UTC())
	link.Import = mapping.ImportOpen
	if _, err := s.Observe(t.Context(), link.Project, []store.Observation{{Refs: link.Refs(), Create: link, Delay: 3 * time.Second}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if text := op.run("import", "--dry-run").out; !strings.Contains(text, "1 was under way before\n") {
		t.Errorf("dry run: %s", text)
	}
	r := op.run("import")
	if r.status != exitOK || !strings.Contains(r.out, "0 linked already") || !strings.Contains(r.out, "1 was under way before, and waited for") {
		t.Errorf("import: %+v", r)
	}
	if got := len(w.Project.Cards()); got != 2 {
		t.Errorf("%d cards when the import ended, want 2", got)
	}
}

// A repository or a glob that cannot be listed does not keep the others from being imported and
// verified. Its route is named.
func TestImportRefusedRepository(t *testing.T) {
	for repository, route := range map[string]string{"acme/secret": "acme/secret", "'nobody/*', name: gone": "gone"} {
		t.Run(route, func(t *testing.T) {
			op := older(t, bridgetest.Options{Config: func(yaml string) string {
				return yaml + "  - {repository: " + repository + ", project: web, bucket: Later, create_issues: false}\n"
			}}, "one")
			named := strings.Trim(strings.Split(repository, ",")[0], "'")
			failed := named + "  failed  -  " + route + "  "
			r := op.run("import")
			if r.status != exitFailure || !strings.Contains(plain(r.out), failed) || !strings.Contains(r.out, "1 issue became a card") {
				t.Errorf("import: %+v", r)
			}
			if cards := op.world.Project.Cards(); len(cards) != 1 || len(cards[0].Tasks) != 1 {
				t.Errorf("cards: %+v", cards)
			}
			r = op.run("verify")
			if r.status != exitFailure || !strings.Contains(r.out, "1 link compared, 0 differ\n") || !strings.Contains(r.out, named+" cannot be listed (route "+route+"): ") {
				t.Errorf("verify: %+v", r)
			}
			r = op.run("check")
			if r.status != exitFailure || strings.Count(r.out, "fault  repository "+named+": ") != 1 {
				t.Errorf("check: %+v", r)
			}
		})
	}
}
