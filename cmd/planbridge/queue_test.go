package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/status"
)

func TestStands(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for want, s := range map[string]status.Standing{
		"not queued":                                             {State: "resting"},
		"due since 2026-11-21T12:00:00Z":                         {State: "due", At: at},
		"leased until 2026-11-21T12:00:00Z by host-1":            {State: "worked", At: at, Worker: "host-1"},
		"leased until 2026-11-21T12:00:00Z by another process":   {State: "worked", At: at},
		"waits until 2026-11-21T12:00:00Z: it is late":           {State: "later", At: at, Reason: "it is late"},
		"waits for GitHub since 2026-11-21T12:00:00Z: away":      {State: "waiting", At: at, Service: "github", WaitsFor: "GitHub", Reason: "away"},
		"is dormant: no project":                                 {State: "dormant", Reason: "no project"},
		"parked since 2026-11-21T12:00:00Z after 3 attempts: no": {State: "parked", At: at, Attempts: 3, Reason: "no"},
	} {
		if got := describe(&s); got != want {
			t.Errorf("%+v stands %q, want %q", s, got, want)
		}
	}
}

// A key that waits is listed with what it waits for, and explain tells the same.
func TestQueueRunning(t *testing.T) {
	op := newOperator(t, bridgetest.Options{}, nil)
	w := op.world
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Fix the door"})
	op.until("the issue is linked", func() bool { return strings.Contains(op.fine("links", "--state", "linked"), "acme/web#1 ") })
	op.fine("pause", "acme/web")
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Paint the door" })
	const waits = "waits for somebody to resume route acme/web since TIME: its route is paused\n"
	op.until("its key waits", func() bool { return strings.Contains(plain(op.fine("queue")), "ID/ID  acme/web#1  acme/web  "+waits) })
	if got := plain(op.fine("explain", "acme/web#1")); !strings.Contains(got, "queue  "+waits) {
		t.Errorf("explain lacks %q:\n%s", waits, got)
	}
	op.fine("resume", "acme/web")
	op.until("the queue is empty", func() bool { return plain(op.fine("queue")) == "KEY  WHERE  ROUTE  STANDS\n" })
}

// TestQueueNamesWhoMetAnError: GitHub's refusal in a repository is shown for each key that waits
// for it. The item at which it was refused is named as that.
func TestQueueNamesWhoMetAnError(t *testing.T) {
	op := newOperator(t, bridgetest.Options{}, nil)
	w := op.world
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	w.GitHub.Fault(githubtest.Fault{Match: "write", Times: -1, Kind: githubtest.Status, Code: 403})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "One"})
	met := regexp.MustCompile(`  (acme/web#\d)  .* labels in acme/web cannot be shown(, as acme/web#\d met)?: add labels: github: add labels (acme/web#\d): forbidden`)
	both := func(n int) func() bool {
		return func() bool { return len(met.FindAllString(op.fine("queue"), -1)) == n }
	}
	op.until("the first waits", both(1))
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Two"})
	op.until("both wait", both(2))
	for _, at := range met.FindAllStringSubmatch(op.fine("queue"), -1) {
		if where, words, of := at[1], at[2], at[3]; where != of && words != ", as "+of+" met" {
			t.Errorf("%s has an error of %s: %s", where, of, at[0])
		}
	}
}
