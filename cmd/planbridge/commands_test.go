package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
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

const patience = 30 * time.Second

// until waits for a state of the world.
func (op *operator) until(what string, cond func() bool) {
	op.t.Helper()
	ctx, cancel := context.WithTimeout(op.t.Context(), patience)
	defer cancel()
	if err := op.world.Until(ctx, cond); err != nil {
		op.t.Fatalf("never: %s", what)
	}
}

// conflict is in the ledger of every world that lived makes.
func conflict(project string) mapping.Conflict {
	at := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	return mapping.Conflict{
		ID: "00000000000000c1", Link: "00000000000000a1", Project: mapping.ObjectID(project), Route: "acme/web", Where: "acme/web#7",
		Attribute: mapping.Title, GitHub: "Theirs\x1b[31m", Planning: strings.Repeat("Ours ", 50), Winner: mapping.Planning,
		Rule: "policy planning", State: mapping.ConflictSettled, At: at, Settled: at,
	}
}

// given is a link in the store of every world that lived makes; it was given
// up while its card was being made.
func given(project string) *mapping.Link {
	at := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	return &mapping.Link{
		ID: "00000000000000a1", Project: mapping.ObjectID(project), Route: "acme/web", Pair: mapping.Pair{
			State: mapping.Creating, Origin: mapping.GitHub,
			Nonce: "00000000000000b1", Issue: mapping.IssueID{ID: 7007, Repo: "acme/web", Number: 7, UpdatedAt: at},
			Intent: &mapping.Intent{Side: mapping.Planning, Nonce: "00000000000000b1", At: at, Sent: true, Lookups: 2}, Dates: mapping.Dates{Created: at},
		},
	}
}

// remember puts a conflict and a failure into the store of a world.
func remember(t *testing.T, path, project string) {
	t.Helper()
	s, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	link, ctx := given(project), t.Context()
	if err := s.PutConflict(ctx, conflict(project)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Observe(ctx, link.Project, []store.Observation{{Refs: link.Refs(), Create: link}}); err != nil {
		t.Fatal(err)
	}
	claim, err := s.ClaimKey(ctx, store.Key{Project: link.Project, Link: link.ID}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(ctx, claim, nil, nil, store.Outcome{Kind: store.Park, Reason: "rejected: no room"}); err != nil {
		t.Fatal(err)
	}
}

// lived is a world in which the bridge runs and has content. It has an issue with its card, a
// parked one, and a conflict.
func lived(t *testing.T) *operator {
	t.Helper()
	// A sweep would note when both sides agreed again.
	op := newOperator(t, bridgetest.Options{Config: replace("task_sweep_interval: 2s", "task_sweep_interval: 1h")}, nil)
	w := op.world
	remember(t, filepath.Join(filepath.Dir(op.config), "planbridge.db"), w.Project.ID())
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Fix the door", Body: "It squeaks."})
	op.until("the issue is linked", func() bool { return strings.Contains(op.fine("links", "--state", "linked"), "acme/web#1 ") })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := w.Settled(ctx, 3); err != nil {
		t.Fatal(err)
	}
	return op
}

// questions are commands that change nothing.
var questions = [][]string{
	{"links"},
	{"links", "-o", "json"},
	{"links", "--route", "acme/web", "--state", "linked"},
	{"failures"},
	{"failures", "list", "-o", "json"},
	{"conflicts"},
	{"conflicts", "-o", "json", "--limit", "5"},
	{"explain", "acme/web#1"},
	{"explain", "acme/web#1", "-o", "json"},
	{"explain", "ACME/web#7"},
	{"queue"},
	{"queue", "-o", "json", "--limit", "5"},
}

// A command prints the same whether a service runs or not.
func TestBothWays(t *testing.T) {
	op := lived(t)
	running := map[string]string{}
	for _, q := range questions {
		running[strings.Join(q, " ")] = op.fine(q...)
	}
	wantOutputs(t, running)
	var detail status.LinkDetail
	if err := json.Unmarshal([]byte(running["explain acme/web#1 -o json"]), &detail); err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(running["explain acme/web#1"], "\n") // behind the first line, which says what was asked for
	for _, name := range []string{detail.Link.ID, detail.Link.Card.ID, detail.Children[0].Task} {
		if _, got, _ := strings.Cut(op.fine("explain", name), "\n"); got != want {
			t.Errorf("explain %s is another link:\n%s", name, got)
		}
	}
	if err := op.world.StopBridge(); err != nil {
		t.Fatal(err)
	}
	for _, q := range questions {
		name := strings.Join(q, " ")
		if got := op.fine(q...); got != running[name] {
			t.Errorf("planbridge %s prints without a service\n%s\nand with one\n%s", name, got, running[name])
		}
	}
	op.world.Project.EditCard(detail.Link.Card.ID, "alice", func(e *planningtest.CardEdit) { e.Title = "Paint the door" })
	if got, want := plain(op.fine("explain", "acme/web#1")), "title  to_github  Paint the door  -  planning changed, GitHub did not\n"; !strings.Contains(got, want) {
		t.Errorf("explain of what is to be done lacks %q:\n%s", want, got)
	}
	if got := op.world.Repo.Issue(1).Title; got != "Fix the door" {
		t.Errorf("explain wrote: the issue's title is %q", got)
	}
	if r := op.run("links", "--route", "nobody"); r.status != exitUsage || r.stderr != "planbridge: route nobody: not found\n" {
		t.Errorf("links of no route: %+v", r)
	}
	if got := op.fine("failures", "retry", "all"); got != "1 taken up again\n" {
		t.Errorf("retry without a service: %q", got)
	}
	if got := op.fine("failures"); strings.Contains(got, "acme/web#7") {
		t.Errorf("what was taken up is still a failure:\n%s", got)
	}
}

func wantOutputs(t *testing.T, got map[string]string) {
	t.Helper()
	for name, want := range map[string][]string{
		"links": {
			"ISSUE  CARD  BUCKET  STATE  ROUTE  SYNCED  WHY\n",
			"acme/web#1  ID  Incoming  linked  acme/web  TIME  -\n", "acme/web#7  -  -  creating  acme/web  -  -\n",
		},
		"links --route acme/web --state linked": {"acme/web#1  ID  Incoming  linked"},
		"links -o json":                         {`"state": "linked"`, `"repository": "acme/web"`, `"more": false`},
		"failures":                              {"KEY  WHERE  ROUTE  ATTEMPTS  SINCE  REASON\n", "ID/ID  acme/web#7  acme/web  1  TIME  rejected: no room\n"},
		"failures list -o json":                 {`"where": "acme/web#7"`, `"attempts": 1`},
		"conflicts":                             {"ID  TIME  acme/web#7  title  planning  policy planning  settled  Theirs\\x1b[31m  Ours Ours", "…\n"},
		"conflicts -o json --limit 5":           {`"github": "Theirs\u001b[31m"`, `"winner": "planning"`},
		"explain acme/web#1": {
			"issue  acme/web#1\n", "card  ID\n", "card number  1\n", "bucket  Incoming\n", "route  acme/web\n", "state  linked\n", "made on  github\n", "agreed at  TIME\n",
			"AGREED ON  VERSION  GITHUB  PLANNING\n", "  Fix the door  Fix the door\n", "  It squeaks.  It squeaks.", "\ntracking", "AT  WHAT  ATTRIBUTE  SIDE  WHY  DELIVERY\n", "TIME  create  ",
			"NOW  VERSION  GITHUB  PLANNING\n", "nothing  -  -  -  the sides agree\n", "queue  not queued\n",
		},
		"queue":                      {"KEY  WHERE  ROUTE  STANDS\n"},
		"queue -o json --limit 5":    {`"keys": []`},
		"explain acme/web#1 -o json": {`"base": {`, `"history": [`, `"kind": "tracking"`},
		"explain ACME/web#7":         {"issue  acme/web#7\n", "card  -\n", "state  creating\n", "creating  on planning: sent TIME, looked for 2 times\n", "queue  parked since TIME after 1 attempt: rejected: no room\n"},
	} {
		text := strings.ReplaceAll(plain(got[name]), "ID  tracking", "\ntracking")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("planbridge %s lacks %q:\n%s", name, w, text)
			}
		}
	}
	for _, name := range []string{"links -o json", "failures list -o json", "conflicts -o json --limit 5", "explain acme/web#1 -o json"} {
		if !json.Valid([]byte(got[name])) {
			t.Errorf("planbridge %s prints no JSON:\n%s", name, got[name])
		}
	}
}

// Retry makes the running service try again.
func TestRetryRunning(t *testing.T) {
	op := newOperator(t, bridgetest.Options{Config: replace("max_attempts: 12", "max_attempts: 1")}, nil)
	w := op.world
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	fault := w.Planning.Fault(planningtest.Fault{Op: planningtest.OpCardCreate, Kind: planningtest.Before, Status: 400, Times: -1})
	n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Refused"})
	op.until("the issue is given up", func() bool { return strings.Contains(op.fine("failures"), "acme/web#1") })
	fault.Remove()
	if got := op.fine("failures", "retry", "acme/web#1", "-o", "json"); got != "{\n  \"retried\": 1\n}\n" {
		t.Errorf("retry: %q", got)
	}
	op.until("the card of issue 1", func() bool {
		cards := w.Project.Cards()
		return len(cards) == 1 && cards[0].Title == w.Repo.Issue(n).Title
	})
	if r := op.run("failures", "retry", "acme/web#99"); r.status != exitUsage || r.stderr != "planbridge: failure acme/web#99: not found\n" {
		t.Errorf("retry of nothing: %+v", r)
	}
}

// Commands beside the running service bring a conflict's loser back, and answer questions.
func TestConflictsRunning(t *testing.T) {
	op := newOperator(t, bridgetest.Options{Route: "conflicts: {title: ask}"}, nil)
	w := op.world
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Both"})
	op.until("its card", func() bool { return len(w.Project.Cards()) == 1 && len(w.Project.Cards()[0].Tasks) == 1 })
	card := w.Project.Cards()[0].ID
	goOn := w.Hold()
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "GitHub's" })
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Planning's" })
	goOn()
	id := ""
	op.until("an open conflict", func() bool {
		for line := range strings.SplitSeq(op.fine("conflicts"), "\n") {
			if strings.Contains(line, "open") {
				id, _, _ = strings.Cut(line, " ")
			}
		}
		return id != ""
	})
	if r := op.run("conflicts", "resolve", id, "nobody"); r.status != exitUsage {
		t.Errorf("resolve for nobody: %+v", r)
	}
	op.fine("conflicts", "resolve", id, "github")
	op.until("GitHub's title on the card", func() bool { return w.Project.Card(card).Title == "GitHub's" })
	op.until("the conflict settled", func() bool { return strings.Contains(op.fine("conflicts"), "settled") })
	op.until("the undo taken", func() bool { return op.run("conflicts", "undo", id).status == exitOK })
	op.until("planning's title on both sides", func() bool {
		return w.Project.Card(card).Title == "Planning's" && w.Repo.Issue(n).Title == "Planning's"
	})
	if got := op.fine("rebuild", "-o", "json"); !strings.Contains(got, `"accepted": "rebuild"`) {
		t.Errorf("rebuild: %q", got)
	}
}

// A question never makes a store.
func TestNoStoreYet(t *testing.T) {
	op := newOperator(t, bridgetest.Options{}, nil)
	r := op.run("links")
	if r.status != exitFailure || !strings.Contains(r.stderr, "no service answers on 127.0.0.1:0: open store ") || !strings.Contains(r.stderr, "file does not exist") {
		t.Errorf("links: %+v", r)
	}
	if found, err := filepath.Glob(filepath.Join(filepath.Dir(op.config), "*.db")); err != nil || len(found) > 0 {
		t.Errorf("there is a store now: %v %v", found, err)
	}
}

// Any other listener there does not count as planbridge.
func TestSomethingElseListens(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"404": func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
		"200": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>welcome")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(answer)
			t.Cleanup(s.Close)
			op := newOperator(t, bridgetest.Options{}, replace("127.0.0.1:0\"\ngithub", s.Listener.Addr().String()+"\"\ngithub"))
			r := op.run("failures")
			if r.status != exitFailure || !strings.Contains(r.stderr, "planbridge") || !strings.Contains(r.stderr, s.URL) {
				t.Errorf("failures: %+v", r)
			}
		})
	}
}

// The token goes with every question to a listener that demands it.
func TestAdminToken(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer letmein" {
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(status.Failed{Error: "the admin token is missing or wrong"})
			return
		}
		_ = json.NewEncoder(w).Encode(status.Failures{})
	}))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	op := newOperator(t, bridgetest.Options{}, replace(`admin_listen: "127.0.0.1:0"`, "admin_listen: \":"+port+"\"\n  admin_token: env:ADMIN"))
	op.env["ADMIN"] = "letmein"
	op.fine("failures")
	op.env["ADMIN"] = "guess"
	if r := op.run("failures"); r.status != exitFailure || r.stderr != "planbridge: the admin token is missing or wrong\n" {
		t.Errorf("a wrong token: %+v", r)
	}
}

func TestReachable(t *testing.T) {
	for listen, want := range map[string]string{
		":9090": "127.0.0.1:9090", "0.0.0.0:9090": "127.0.0.1:9090", "[::]:9090": "127.0.0.1:9090",
		"127.0.0.1:9090": "127.0.0.1:9090", "[::1]:9090": "[::1]:9090", "10.1.2.3:9090": "10.1.2.3:9090", "localhost:9090": "localhost:9090",
	} {
		if got := reachable(listen); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}

// More links than asked for are announced, and not on the output that scripts read.
func TestLinksLimit(t *testing.T) {
	op := newOperator(t, bridgetest.Options{}, nil)
	if err := op.world.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	for range 3 {
		op.world.Repo.Open("octocat", githubtest.IssueSpec{Title: "One of three"})
	}
	op.until("three links", func() bool { return strings.Count(op.fine("links"), "acme/web#") == 3 })
	r := op.run("links", "--limit", "2")
	if r.status != exitOK || strings.Count(r.out, "acme/web#") != 2 || !strings.Contains(r.stderr, "more than 2 links") {
		t.Errorf("links --limit 2: %+v", r)
	}
	if r := op.run("links", "--limit", "0"); r.status != exitUsage || !strings.Contains(r.stderr, "limit") {
		t.Errorf("links --limit 0: %+v", r)
	}
}

// A list that ends early is not taken for the whole.
func TestLinksBroken(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"links":[{"id":"a"}],"more":false,"error":"the store broke"}`))
	}))
	t.Cleanup(s.Close)
	op := newOperator(t, bridgetest.Options{}, replace(`admin_listen: "127.0.0.1:0"`, `admin_listen: "`+s.Listener.Addr().String()+`"`))
	if r := op.run("links"); r.status != exitFailure || r.stderr != "planbridge: the list is not complete: the store broke\n" {
		t.Errorf("links: %+v", r)
	}
}

func TestCheck(t *testing.T) {
	op := newOperator(t, bridgetest.Options{}, nil)
	op.world.GitHub.AddHook(bridgetest.RepoName, "http://127.0.0.1:1/webhooks/github", bridgetest.WebhookSecret)
	r := op.run("check")
	text := plain(r.out)
	for _, want := range []string{
		"ok  planning web: the secret opens the project \"Web\"\n", "warn  planning web: username bridge: ",
		"ok  github: acting as planbridge-bot\n", "ok  repository acme/web: issues and labels can be written\n",
	} {
		if r.status != exitOK || !strings.Contains(text, want) {
			t.Errorf("check: status %d, want %q in\n%s%s", r.status, want, text, r.stderr)
		}
	}
	if r := op.run("check", "--create-webhook", "ftp://planbridge"); r.status != exitUsage || !strings.Contains(r.stderr, `webhook "ftp://planbridge": expected the public address`) {
		t.Errorf("check of a webhook's address that is none: %+v", r)
	}
	op.world.Planning.Down(true)
	op.world.GitHub.Down(true)
	if r := op.run("check"); r.status != exitFailure || strings.Count(r.out, "fault ") != 2 || r.stderr != "" {
		t.Errorf("check with both services down: %+v", r)
	}
	var found struct {
		Findings []struct{ Level, Place, Words string }
	}
	r = op.run("check", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &found); err != nil || r.status != exitFailure || len(found.Findings) < 3 || found.Findings[0].Place != "store" {
		t.Errorf("check -o json: %v %+v", err, r)
	}
}
