package bridgetest_test

import (
	"log/slog"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/logtest"
	"planbridge/bridge/status"
	"planbridge/mapping"
)

// TestQuarantineImport: an import leaves strangers' issues out that nobody let in,
// and says how many; it takes those that a member labelled.
func TestQuarantineImport(t *testing.T) {
	t.Parallel()
	w, now := past(t, bridgetest.Options{Public: true, Members: []string{"mona"}, Route: "allow_public: true"})
	w.Repo.Open("mallory", githubtest.IssueSpec{Title: "Spam"})
	w.Repo.Open("mallory", githubtest.IssueSpec{Title: "By a form", Labels: []string{"bug"}})
	n := w.Repo.Open("mallory", githubtest.IssueSpec{Title: "Let in"})
	w.Repo.Label(n, "mona", "bug")
	w.Repo.Open("mona", githubtest.IssueSpec{Title: "Of a member"})
	now()
	job := w.FinishJob(w.BeginImport(status.ImportAsk{}))
	if r := job.Import; r.Cards != 2 || r.Out != 2 || r.OutWhy[mapping.WhyQuarantine] != 2 || r.Failed > 0 {
		t.Errorf("import: %+v", r)
	}
	w.AwaitSettled()
	if got := len(w.Project.Cards()); got != 2 {
		t.Errorf("%d cards, want 2", got)
	}
}

// TestQuarantineTold: the first start names each route whose public repository
// has a quarantine that its configuration does not speak of; later ones do not.
func TestQuarantineTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		o    bridgetest.Options
		told int
	}{
		"by default": {bridgetest.Options{Public: true, Route: "allow_public: true"}, 1},
		"said":       {bridgetest.Options{Public: true, Route: "allow_public: true\nissues: {quarantine: auto}"}, 0},
		"private":    {bridgetest.Options{Route: "allow_public: true"}, 0},
		"refused":    {bridgetest.Options{Public: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log logtest.Text
			tt.o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			w := start(t, tt.o)
			told := func() int { return strings.Count(log.String(), "issues of strangers wait in quarantine") }
			if tt.told > 0 {
				w.Await("a warning", func() bool { return told() == tt.told })
			}
			w.AwaitSettled()
			if err := w.StopBridge(); err != nil {
				t.Fatal(err)
			}
			if err := w.StartBridge(); err != nil {
				t.Fatal(err)
			}
			w.AwaitSettled()
			if got := told(); got != tt.told {
				t.Errorf("told %d times, want %d:\n%s", got, tt.told, log.String())
			}
		})
	}
}

// TestQuarantineCalls: an issue of a stranger costs no request at GitHub while
// nobody touches it.
func TestQuarantineCalls(t *testing.T) {
	t.Parallel()
	w := start(t, bridgetest.Options{Public: true, Members: []string{"mona"}, Route: "allow_public: true"})
	w.polls(2)
	for range 20 {
		w.Repo.Open("mallory", githubtest.IssueSpec{Title: "Spam"})
	}
	w.AwaitSettled()
	if got := w.GitHub.Calls("events.list"); got > 0 {
		t.Errorf("%d looks at events of untouched issues", got)
	}
}
