package main

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
)

// The newcomer's first run: every step of the scene comes true.
func TestScene(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"--once", "--patience", "1m"}, &out, &errs); status != 0 {
		t.Fatalf("status %d\n%s\n%s", status, out.String(), errs.String())
	}
	if got := strings.Count(out.String(), "✓"); got != len(steps()) {
		t.Errorf("%d of %d steps:\n%s", got, len(steps()), out.String())
	}
}

// Both repositories tell the bridge what happens in them.
func TestWebhooksArrive(t *testing.T) {
	w, err := stage(bridgetest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "One"})
	w.GitHub.Repo(docsName).Open("octocat", githubtest.IssueSpec{Title: "Two"})
	if err := w.GitHub.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, d := range w.GitHub.Deliveries() {
		if d.Status == http.StatusBadGateway { // nobody was there
			t.Errorf("%s of %s did not arrive", d.Event, d.Repo)
		}
	}
}

func TestMisuse(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"--nonsense"}, &out, &errs); status != 2 || !strings.Contains(errs.String(), "--nonsense") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}
