package bridgetest_test

import (
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/clock"
	"planbridge/bridge/factlog"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/logtest"
	"planbridge/bridge/planningtest"
)

// TestServiceProvesItsConfiguration: a failed part is one line when it is found, at the start or
// after a reload, and one when it is repaired.
func TestServiceProvesItsConfiguration(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	logger := slog.New(factlog.NewHandler(slog.NewTextHandler(log, nil), clock.Runtime{}))
	bucket := "Incomming"
	w := start(t, bridgetest.Options{
		Logger: logger, Prove: 200 * time.Millisecond,
		Config: func(yaml string) string { return strings.Replace(yaml, "bucket: Incoming", "bucket: "+bucket, 1) },
	})
	const found, repaired = `level=ERROR msg="a part of the configuration does not work"`, `level=INFO msg="a fault of the configuration before is gone"`
	once := func(line string) {
		t.Helper()
		w.Await(line, func() bool { factlog.Flush(t.Context(), logger); return log.Lines(line) > 0 })
	}
	unknown := ` place="planning web" fault="route acme/web: there is no bucket \"Incomming\"; there are Incoming, `
	once(found + unknown)
	w.Await("the fault on the page", func() bool {
		return strings.Contains(page(t, w), "does not work: planning web: route acme/web: there is no bucket")
	})
	w.GitHub.RevokeToken(bridgetest.Token)
	bucket = "Incoming"
	w.reload(w.YAML())
	once(repaired + unknown)
	w.Await("a page without the fault", func() bool { return !strings.Contains(page(t, w), "there is no bucket") })
	const refused = `="a service refuses the secret"` // the first part that meets it logs it
	once("fact" + refused)
	w.Await("the refusal on the page", func() bool { return strings.Contains(page(t, w), "GitHub does not take the token") })
	w.GitHub.AddToken(bridgetest.Token, bridgetest.Bot)
	once("over" + refused)
	w.Repo.Archive(true)
	w.reload(w.YAML())
	once(found + ` place="repository acme/web" fault="it is archived: `)
	if n := log.Lines(found+` place="`) + log.Lines("fact"+refused); n != 3 {
		t.Errorf("%d lines tell of 3 faults", n)
	}
}

// TestServiceTellsOnceOfWhatCannotBeListed: a glob whose owner is not there is one error for each
// of its routes, and keeps nothing else from crossing.
func TestServiceTellsOnceOfWhatCannotBeListed(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	w := start(t, bridgetest.Options{
		Logger: slog.New(slog.NewTextHandler(log, nil)), Prove: 200 * time.Millisecond,
		Config: func(yaml string) string {
			return yaml + "  - {repository: 'nobody/*', name: gone, project: web, bucket: Bugs, create_issues: false}\n"
		},
	})
	const fault = `level=ERROR msg="a part of the configuration does not work" place="repository nobody/*" fault="route gone: the repositories of nobody cannot be listed: `
	w.Await(fault, func() bool { return log.Lines(fault) > 0 })
	w.OpenIssue(githubtest.IssueSpec{Title: "Title"})
	lists := func() int { return w.GitHub.Calls("org.repos") }
	before := lists()
	w.Await("more rounds and proofs", func() bool { return lists() > before+8 })
	if n := log.Lines("nobody"); n != 2 || log.Lines(fault) != 1 || log.Lines(`level=WARN msg="the repositories of an owner could not be listed" owner=nobody repo=nobody/*`) != 1 {
		t.Errorf("%d lines tell of it:\n%s", n, log)
	}
}

// TestServiceNoticesARenamedBucket: a bucket that people rename while the service runs is one error.
// The cards that they make there meanwhile become issues once the route has the new title.
func TestServiceNoticesARenamedBucket(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	bucket := "Incoming"
	w := start(t, bridgetest.Options{
		Logger: slog.New(slog.NewTextHandler(log, nil)), Prove: 20 * time.Millisecond,
		Config: func(yaml string) string { return strings.Replace(yaml, "bucket: Incoming", "bucket: "+bucket, 1) },
	})
	w.OpenIssue(githubtest.IssueSpec{Title: "Before"})
	w.Project.NewCard(bucket, "alice", planningtest.CardSpec{Title: "First"})
	w.Await("an issue for the first card, as the bucket is recorded", func() bool { return w.Repo.Issue(2).Title == "First" })
	bucket = "Inbox"
	w.Project.RenameBucket("Incoming", bucket)
	w.Project.NewCard(bucket, "alice", planningtest.CardSpec{Title: "Meanwhile"})
	const fault = `level=ERROR msg="a part of the configuration does not work" place="planning web" fault="route acme/web: there is no bucket \"Incoming\"; there are Inbox, `
	w.Await("the fault", func() bool { return log.Lines(fault) > 0 })
	lists := w.Planning.Calls(planningtest.OpBacklogItems)
	w.Await("two more polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > lists+1 })
	if n := len(w.Repo.Issues()); n != 2 {
		t.Fatalf("%d issues while no route has the bucket", n)
	}
	w.reload(w.YAML())
	w.Await("an issue for the card", func() bool { return w.Repo.Issue(3).Title == "Meanwhile" })
	if n := log.Lines(fault); n != 1 {
		t.Errorf("%d lines tell of the fault", n)
	}
}

// TestLogNamesItemsInOneForm: lines about a delivery, a poll and a key name a link and an item in
// the same way.
func TestLogNamesItemsInOneForm(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	w := start(t, bridgetest.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	w.OpenIssue(githubtest.IssueSpec{Title: "By an issue"})
	w.Project.NewCard("Incoming", "alice", planningtest.CardSpec{Title: "By a card"})
	w.Await("an issue for the card", func() bool { return w.Repo.Issue(2).Title == "By a card" })
	for _, msg := range []string{"delivery", `"new link"`, "create"} {
		if log.Lines("msg="+msg+" ") == 0 {
			t.Errorf("no line %s", msg)
		}
	}
	form := regexp.MustCompile(` link=[0-9a-f]{16}( |\n)`)
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, " link=") && !form.MatchString(line) || strings.Contains(line, " item=card:") {
			t.Errorf("another form: %s", line)
		}
	}
}

// TestRefusedValueIsAWarning: a value that planning does not take waits for a person, so that the
// log warns of it.
func TestRefusedValueIsAWarning(t *testing.T) {
	t.Parallel()
	log := &logtest.Text{}
	w := start(t, bridgetest.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	w.OpenIssue(githubtest.IssueSpec{Title: "Before"})
	w.Planning.Fault(planningtest.Fault{Op: planningtest.OpCardUpdate, Kind: planningtest.Before, Status: http.StatusUnprocessableEntity, Times: -1, Body: `{"error":"this title is forbidden"}`})
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "After" })
	w.Await("the refusal", func() bool { return log.Lines("msg=refused ") > 0 })
	if n := log.Lines(`level=WARN msg=refused `); n != 1 || log.Lines("msg=refused ") != 1 {
		t.Errorf("%d warnings tell of it:\n%s", n, log)
	}
}

// page is the text of the status page.
func page(t *testing.T, w *world) string {
	t.Helper()
	r, err := http.Get(w.AdminURL() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close() //nolint:errcheck // it is read
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
