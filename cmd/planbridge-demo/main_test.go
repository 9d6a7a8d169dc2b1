package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/config"
)

// The newcomer's first run: every step of the scene comes true.
func TestScene(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"--once", "--patience", "1m"}, &out, &errs); status != 0 {
		t.Fatalf("status %d\n%s\n%s", status, out.String(), errs.String())
	}
	for _, line := range []string{"        - title: Login fails\n        + title: Login fails on Firefox\n", "        - state: open\n        + state: closed, completed\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("the change is not shown:\n%s", line)
		}
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

// TestInvitation follows the invitation to a newcomer. The requests are answered, and the card that
// one of them edits shows on its issue. The configuration leads planbridge's commands to the bridge.
func TestInvitation(t *testing.T) {
	dir := t.TempDir()
	w, err := stage(bridgetest.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.GitHub.AddToken(personToken, "octocat")
	if err := w.Settled(t.Context(), 2); err != nil { // a card that the first poll sees is an old one
		t.Fatal(err)
	}
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: ownCard})
	issues := func(title string) bool {
		return slices.ContainsFunc(w.Repo.Issues(), func(i githubtest.IssueState) bool { return i.Title == title })
	}
	wait(t, w, "alice's card has an issue", func() bool { return issues(ownCard) })
	file, err := writeConfiguration(w, dir)
	if err != nil {
		t.Fatal(err)
	}
	text := invitation(w, file)
	asked := 0
	for line := range strings.Lines(text) {
		if words := quoted.FindAllString(line, -1); len(words) > 0 && words[0] == "curl" {
			asked++
			curl(t, words[1:])
		}
	}
	if asked != 5 || !strings.Contains(text, w.AdminURL()+"/\n") || !strings.Contains(text, "'"+file+"'") {
		t.Errorf("%d requests, and the page and the configuration have to be named:\n%s", asked, text)
	}
	wait(t, w, "the edited card's issue and the card of the new issue", func() bool {
		return issues("Edited with curl") && slices.ContainsFunc(w.Project.Cards(), func(c planningtest.CardState) bool { return c.Title == "From curl" })
	})
	c, err := config.Load(file, func(string) (string, bool) { return "", false })
	if err != nil || "http://"+c.Server.AdminListen != w.AdminURL() || len(c.Routes) != 2 {
		t.Errorf("the configuration: %v", err)
	}
}

func wait(t *testing.T, w *bridgetest.World, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := w.Until(ctx, cond); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// quoted is a word of a command line.
var quoted = regexp.MustCompile(`'[^']*'|\S+`)

// curl makes the request that a command line of curl makes.
func curl(t *testing.T, words []string) {
	t.Helper()
	method, body, header := http.MethodGet, "", http.Header{}
	for i := 0; i < len(words)-1; i++ {
		value := strings.Trim(words[i+1], "'")
		switch words[i] {
		case "-X":
			method = value
		case "-d":
			body = value
			if method == http.MethodGet {
				method = http.MethodPost
			}
		case "-H":
			name, rest, _ := strings.Cut(value, ": ")
			header.Set(name, rest)
		}
	}
	address := words[len(words)-1]
	if !strings.HasPrefix(address, "'http") {
		t.Errorf("the address is not quoted: %s", address)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, strings.Trim(address, "'"), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode/100 != 2 {
		t.Errorf("%s %s: %s %s", method, address, answer.Status, text)
	}
}

func TestMisuse(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"--nonsense"}, &out, &errs); status != 2 || !strings.Contains(errs.String(), "--nonsense") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}
