package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/bridge/status"
)

func TestExplainWithoutPreview(t *testing.T) {
	var out strings.Builder
	if err := explainNow(&out, &status.LinkDetail{NowError: "decide about acme/web#12: connection refused"}).flush(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "connection refused") {
		t.Errorf("got %s", out.String())
	}
}

// The output for a task names the agreed attributes, without texts.
func TestExplainTasks(t *testing.T) {
	var out strings.Builder
	d := &status.LinkDetail{Children: []status.Child{{
		Kind: "sub_issue", State: "linked", Task: "t1", Issue: &status.Issue{Repository: "acme/web", Number: 3},
		Base: map[string]status.Base{"title": {GitHub: "Build it"}, "summary": {GitHub: "Steps"}, "estimate": {GitHub: "1.5"}, "state": {GitHub: "todo"}},
	}}}
	if err := explainChildren(&out, d).flush(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(out.String()), " "); got != "TASK KIND STATE OF AGREED ON t1 sub_issue linked acme/web#3 title Build it, estimate 1.5, state todo" {
		t.Errorf("got %s", got)
	}
}

// TestCommandsTakeAddresses: all commands about one item take the address of an issue. None that
// changes something takes a number, which may be that of an issue or of a card.
func TestCommandsTakeAddresses(t *testing.T) {
	op := lived(t)
	const address = "https://github.com/acme/web/issues/1"
	card := op.world.Project.Cards()[0].ID
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"explain", address}, "acme/web#1: "},
		{[]string{"unlink", address, "--clean", "--dry-run"}, "1 pair would be taken apart"},
		{[]string{"unlink", address}, address + " is unlinked"},
		{[]string{"link", address, card}, address + " is linked with card " + card},
		{[]string{"erase", address}, "acme/web#1"},
	} {
		if r := op.run(c.args...); r.status != exitOK || !strings.Contains(r.out, c.says) {
			t.Errorf("%q: %+v, want %q", c.args, r, c.says)
		}
	}
	for _, command := range []string{"unlink", "erase"} {
		if r := op.run(command, "7"); r.status != exitUsage || !strings.Contains(r.stderr, "7 may be the number of a card or of an issue") {
			t.Errorf("%s 7: %+v", command, r)
		}
	}
}

// TestExplainWhereAServiceIsAway: a failed lookup is not reported as nothing.
func TestExplainWhereAServiceIsAway(t *testing.T) {
	op := lived(t)
	if r := op.run("explain", "acme/web#99"); r.status != exitUsage || !strings.Contains(r.stderr, "GitHub has no issue acme/web#99") {
		t.Errorf("an issue that is not there: %+v", r)
	}
	op.world.GitHub.Down(true)
	op.world.Planning.Down(true)
	for item, service := range map[string]string{"acme/web#99": "GitHub", "#99": "planning"} {
		if r := op.run("explain", item); r.status != exitFailure || !strings.Contains(r.stderr, item+" has no link, and "+service+" could not be asked why: ") {
			t.Errorf("%s: %+v", item, r)
		}
	}
	resp, err := http.Get(op.world.AdminURL() + "/explain?item=" + url.QueryEscape("acme/web#99"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	page, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(page), "could not be asked why") || strings.Contains(string(page), "Nothing is known of it") {
		t.Errorf("the page: %d, %v, %s", resp.StatusCode, err, page)
	}
}

// TestExplainAmbiguousNumber: a number that an issue has and a card that is not its partner is no
// name. The error lists the names to choose from.
func TestExplainAmbiguousNumber(t *testing.T) {
	op := lived(t)
	if got := op.fine("explain", strconv.Itoa(op.world.Project.Cards()[0].CID)); !strings.HasPrefix(got, "acme/web#1: ") {
		t.Errorf("one pair has the number: %s", got)
	}
	lone := op.world.Project.Cards()[0]
	for lone.CID < 7 { // of the issue that was given up
		lone = op.world.Project.Card(op.world.Project.NewCard("Bugs", "alice", planningtest.CardSpec{Title: "Alone"}))
	}
	names := "acme/web#7, " + lone.ID + " (a card of project web without an issue)"
	for _, name := range []string{"7", "#7"} {
		if r := op.run("explain", name); r.status != exitUsage || r.stderr != "planbridge: "+name+" is ambiguous, name one of these: "+names+"\n" {
			t.Errorf("%+v, want %s", r, names)
		}
	}
	if got := op.fine("explain", lone.ID); !strings.HasPrefix(got, "card "+lone.ID+": ") {
		t.Errorf("a name of these: %s", got)
	}
}

// TestExplainTellsHiddenText: invisible text crosses, and explain reports it.
func TestExplainTellsHiddenText(t *testing.T) {
	op := newOperator(t, bridgetest.Options{}, nil)
	w := op.world
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	const body = "It <!-- not --> squeaks\u200b \u202eloudly."
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Fix the door", Body: body})
	op.until("the issue is linked", func() bool { return strings.Contains(op.fine("links", "--state", "linked"), "acme/web#1 ") })
	var detail status.LinkDetail
	if err := json.Unmarshal([]byte(op.fine("explain", "acme/web#1", "-o", "json")), &detail); err != nil {
		t.Fatal(err)
	}
	if got := w.Project.Card(detail.Link.Card.ID).Summary; !strings.HasPrefix(got, body) {
		t.Errorf("the card says %q", got)
	}
	got := plain(op.fine("explain", "acme/web#1"))
	for _, side := range []string{"github", "planning"} {
		want := "summary  " + side + "  1 HTML comment, 1 zero-width character, 1 bidirectional control\n"
		if !strings.Contains(got, "HIDDEN TEXT  SIDE  WHAT\n") || !strings.Contains(got, want) {
			t.Errorf("explain lacks %q:\n%s", want, got)
		}
	}
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Body = "It squeaks." })
	op.until("nothing is hidden any more", func() bool { return !strings.Contains(op.fine("explain", "acme/web#1"), "HIDDEN TEXT") })
}

func TestExplainNothing(t *testing.T) {
	op := newOperator(t, bridgetest.Options{}, nil)
	if err := op.world.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	for name, want := range map[string]string{
		"acme/web#99": "GitHub has no issue acme/web#99, or the token does not reach it",
		"acme/web#x":  `find "acme/web#x": expected owner/name#number, a card's id or a link's id`,
		"web#1":       `find "web#1": expected owner/name#number, a card's id or a link's id`,
		"nothing":     "no card, task or link has the id nothing (an issue is called owner/name#number)",
	} {
		if r := op.run("explain", name); r.status != exitUsage || r.stderr != "planbridge: "+want+"\n" {
			t.Errorf("explain %s: %+v", name, r)
		}
	}
}
