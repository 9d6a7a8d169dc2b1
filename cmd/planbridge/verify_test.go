package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// TestVerifyHeld: where a side refused a value, or a person is asked, the sides differ though
// nothing will be written. The command verify counts it with the reason, and a repair does not wait
// for it.
func TestVerifyHeld(t *testing.T) {
	op := older(t, bridgetest.Options{Route: "conflicts: {default: ask}"}, "asked", "too long", "no estimate", "ignored")
	w := op.world
	op.fine("import")
	for _, c := range w.Project.Cards() {
		w.Project.EditCard(c.ID, "alice", func(e *planningtest.CardEdit) {
			switch c.Title {
			case "asked":
				e.Title = "of planning"
			case "too long":
				e.Summary = strings.Repeat("long ", 14_000) + e.Summary
			}
		})
	}
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "of GitHub" })
	w.Repo.Label(3, "octocat", "points/2.5")
	w.Repo.Label(4, "octocat", "plan:ignore")
	w.Repo.Edit(4, "octocat", func(e *githubtest.IssueEdit) { e.Title = "of nobody" })

	began := time.Now()
	job := op.job("verify", "--repair")
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the repair took %s", took)
	}
	want := map[string]status.Difference{
		"title":    {Where: "acme/web#1", GitHub: "of GitHub", Planning: "of planning", Held: "ask", Why: "policy ask"},
		"summary":  {Where: "acme/web#2", Held: "blocked", Why: "GitHub refused it: "},
		"estimate": {Where: "acme/web#3", GitHub: "2.5", Held: "blocked", Why: "planning refused it: "},
	}
	if r := job.Verify; r.Drift["acme/web"] != len(want) || len(r.Differences) != len(want) {
		t.Errorf("verify --repair: %+v", r)
	}
	for _, d := range job.Verify.Differences {
		is := want[d.Attribute]
		if d.Where != is.Where || d.Held != is.Held || !strings.HasPrefix(d.Why, is.Why) || d.GitHub != is.GitHub || is.Planning != "" && d.Planning != is.Planning {
			t.Errorf("%s: %+v, want %+v", d.Attribute, d, is)
		}
	}

	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	r := op.run("verify")
	for _, line := range []string{
		"3 links compared, 3 differ\n",
		"of GitHub  of planning  asks a person (planbridge conflicts): policy ask\n",
		"blocked: GitHub refused it: ",
		"blocked: planning refused it: a card's estimate is a whole number, not 2.5\n",
	} {
		if r.status != exitFailure || !strings.Contains(plain(r.out), line) {
			t.Errorf("no %q in status %d\n%s%s", line, r.status, r.out, r.stderr)
		}
	}
	resp, err := http.Get("http://" + w.App.AdminAddr() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	metrics, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(metrics), `planbridge_drift_links{route="acme/web"} 3`) {
		t.Errorf("the gauge is not 3: %v", err)
	}
}

// TestVerifyRefusedAtTheCreate: a card's text was too long for its issue, which was made without it.
// The base says what each side shows, so that nothing has changed since, and still the two differ.
func TestVerifyRefusedAtTheCreate(t *testing.T) {
	op := older(t, bridgetest.Options{}, "other")
	w := op.world
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	polls := w.Planning.Calls(planningtest.OpBacklogItems) + 2
	op.until("the bucket is known", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) >= polls })
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "too long", Summary: strings.Repeat("long ", 14_000)})
	op.until("its issue is made", func() bool {
		l, err := w.App.Operator().Find(t.Context(), "acme/web#2")
		return err == nil && len(l.Refused) > 0 && l.Base[mapping.Summary].Planning != ""
	})
	r := op.run("verify")
	for _, line := range []string{"1 link compared, 1 differs\n", "acme/web#2  acme/web  summary  -  long long", "blocked: GitHub refused it: "} {
		if r.status != exitFailure || !strings.Contains(plain(r.out), line) {
			t.Errorf("no %q in status %d\n%.2000s%s", line, r.status, r.out, r.stderr)
		}
	}
}

// The card's counters do not tell that a sub-issue and its task differ where that is
// held: the two are looked at.
func TestVerifyHeldSubIssue(t *testing.T) {
	op := older(t, bridgetest.Options{Route: "conflicts: {default: ask}"}, "parent", "asked", "too long", "agreed")
	w := op.world
	for child := 2; child <= 4; child++ {
		w.Repo.AddSubIssue(1, child)
	}
	op.fine("import")
	for _, task := range w.Project.Tasks(w.Project.Cards()[0].ID) {
		w.Project.EditTask(task.ID, "alice", func(e *planningtest.TaskEdit) {
			switch task.Title {
			case "asked":
				e.Title = "of planning"
			case "too long":
				e.Summary = strings.Repeat("long ", 14_000) + e.Summary
			}
		})
	}
	w.Repo.Edit(2, "octocat", func(e *githubtest.IssueEdit) { e.Title = "of GitHub" })
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	op.until("two are held", func() bool {
		held := 0
		if l, err := w.App.Operator().Find(t.Context(), "acme/web#1"); err == nil {
			for _, p := range l.SubLinks {
				held += len(p.Asking) + len(p.Refused)
			}
		}
		return held == 2
	})
	r := op.run("verify")
	for _, line := range []string{
		"1 link compared, 1 differs\n",
		"acme/web#2  acme/web  title  of GitHub  of planning  asks a person (planbridge conflicts): policy ask\n",
		"acme/web#3  acme/web  summary  -  long long",
		"blocked: GitHub refused it: ",
	} {
		if r.status != exitFailure || !strings.Contains(plain(r.out), line) {
			t.Errorf("no %q in status %d\n%s%s", line, r.status, r.out, r.stderr)
		}
	}
	if strings.Contains(r.out, "acme/web#4") {
		t.Errorf("a sub-issue that agrees is listed:\n%s", r.out)
	}
}
