package main

import (
	"os"
	"path/filepath"
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

// TestImportForecast: a dry run counts the issues that the import then gives labels, and names
// what bounds that. One request writes the labels of several.
func TestImportForecast(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one", "two", "three")
	op.world.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "a card"})
	op.write(replace("writes_per_minute: 10000", "writes_per_minute: 10000\n  edits_per_minute: 3"))
	text := op.fine("import", "--dry-run")
	r := op.job("import", "--dry-run").Import
	if r.Bound != "github.edits_per_minute" || r.Labels != 4 || r.Forecast != 30 || !strings.Contains(text, "1 new issue and the labels of 4 issues take 30s; github.edits_per_minute bounds it") {
		t.Errorf("forecast: %+v\n%s", r, text)
	}
	op.write(nil)
	op.fine("import")
	w := op.world
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.until("each issue has its labels", func() bool { // one key makes a label, and others wait for it
		labelled := 0
		for _, i := range w.Repo.Issues() {
			labelled += min(len(i.Labels), 1)
		}
		return labelled == r.Labels
	})
	op.settled()
	if n := w.GitHub.Calls("labels.add", "graphql.labels"); n > r.Labels {
		t.Errorf("issues got labels by %d writes, %d were forecast", n, r.Labels)
	}
}

// TestImportForecastOfALostStore: marked items are linked again, and nothing is made of them. The
// dry run says so while no store is there, also of issues that are closed.
func TestImportForecastOfALostStore(t *testing.T) {
	op := peopled(t, bridgetest.Options{}, nil)
	w := op.world
	w.Repo.Close(2, "octocat", "completed")
	op.settled()
	if err := w.StopBridge(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(op.config), "planbridge.db")); err != nil {
		t.Fatal(err)
	}
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "new"})
	cards, issues := len(w.Project.Cards()), len(w.Repo.Issues())
	for _, args := range [][]string{{"import", "--dry-run"}, {"import", "--dry-run", "--match", "title"}} {
		text := op.fine(args...)
		r := op.job(args...).Import
		if r.Found != 2 || r.Cards != 1 || r.Issues != 0 || r.Children != 1 || r.Joined != 0 || !strings.Contains(text, "\n2 pairs would be linked again by their markers\n") {
			t.Errorf("%v: %+v\n%s", args, r, text)
		}
	}
	op.fine("import")
	if len(w.Project.Cards()) != cards+1 || len(w.Repo.Issues()) != issues {
		t.Errorf("%d cards and %d issues, %d and %d before", len(w.Project.Cards()), len(w.Repo.Issues()), cards, issues)
	}
}

// TestImportMatchDryRun: it says in what the pairs differ, and who would win; that side then
// wins.
func TestImportMatchDryRun(t *testing.T) {
	var today atomic.Bool // an issue that was touched now might enter by itself
	o := bridgetest.Options{Route: "conflicts: {summary: github}"}
	o.GitHub.Clock = func() time.Time {
		if today.Load() {
			return time.Now()
		}
		return time.Now().Add(-24 * time.Hour)
	}
	op := newOperator(t, o, nil)
	w := op.world
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Same", Body: "What octocat knows."})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Equal"})
	today.Store(true)
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "Same", Summary: "What alice knows."})
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "Equal"})
	before := w.Writes()
	job := op.job("import", "--match", "title", "--dry-run")
	i := slices.IndexFunc(job.Import.Items, func(i status.ImportItem) bool { return i.Where == "acme/web#1" })
	if i < 0 || len(job.Import.Items[i].Differs) != 1 {
		t.Fatalf("dry run: %+v", job.Import)
	}
	if d := job.Import.Items[i].Differs[0]; d.Attribute != "summary" || d.Wins != "github" || d.GitHub != "What octocat knows." || d.Planning != "What alice knows." {
		t.Errorf("the difference: %+v", d)
	}
	text := plain(op.fine("import", "--match", "title", "--dry-run"))
	if !strings.Contains(text, "PAIR  ATTRIBUTE  WINS  GITHUB  PLANNING  WHY\nacme/web#1  summary  github  What octocat knows.  What alice knows.  ") || strings.Contains(text, "acme/web#2  summary") {
		t.Errorf("dry run:\n%s", text)
	}
	if w.Writes() != before {
		t.Error("the dry run wrote")
	}
	op.fine("import", "--match", "title")
	for _, c := range w.Project.Cards() {
		if c.Title == "Same" && !strings.HasPrefix(c.Summary, "What octocat knows.") {
			t.Errorf("the card says %q", c.Summary)
		}
	}
}

// TestProgressTells: the rate is that of the last while, and what is waited for has its end.
func TestProgressTells(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	p := &progress{}
	for i := range 601 { // ten minutes at one a second, then none
		p.rate.add(noon.Add(time.Duration(i)*time.Second), i)
	}
	job := &status.Job{Total: 660, Done: 600}
	if got := p.rest(job); got != ", 1.0 a second, 1m0s left" {
		t.Errorf("while it goes on: %q", got)
	}
	if n := len(p.rate.seen); n > 40 {
		t.Errorf("%d samples are kept", n)
	}
	for i := range 60 {
		p.rate.add(noon.Add(time.Duration(601+i)*time.Second), 600)
	}
	job.Waits = []status.JobWait{{For: "github"}, {For: "the write budget of an hour", Until: noon}}
	if got := p.rest(job); got != "; waiting for github, the write budget of an hour until 2026-11-20T12:00:00Z" {
		t.Errorf("while it waits: %q", got)
	}
}
