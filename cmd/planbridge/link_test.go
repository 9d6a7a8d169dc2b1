package main

import (
	"fmt"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
)

// A pair is parted and joined by hand.
func TestLinkByHand(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one", "two")
	w := op.world
	op.fine("import")
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	var first, second string
	for _, c := range w.Project.Cards() {
		if c.Title == "one" {
			first = c.ID
		} else {
			second = c.ID
		}
	}
	if r := op.run("link", "acme/web#1", second); r.status != exitFailure || !strings.Contains(r.stderr, "unlink them first") {
		t.Errorf("link of what is linked: %+v", r)
	}
	op.fine("unlink", "acme/web#1")
	op.fine("unlink", second)
	if text := op.fine("links", "--state", "dormant"); strings.Count(text, "unlinked by an operator") != 2 {
		t.Errorf("links:\n%s", text)
	}
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "one apart" })
	if err := w.Settled(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if w.Project.Card(first).Title != "one" || len(w.Project.Cards()) != 2 {
		t.Errorf("what was parted was synchronised: %+v", w.Project.Cards())
	}
	if text := op.fine("link", "acme/web#1", second); !strings.Contains(text, "acme/web#1 is linked with card "+second) {
		t.Errorf("link: %q", text)
	}
	op.until("planning's title on the issue", func() bool { return w.Repo.Issue(1).Title == "two" })
	op.until("the footer", func() bool { return strings.Contains(w.Project.Card(second).Summary, "acme/web#1") })
	if text := op.fine("conflicts"); !strings.Contains(text, "one apart") {
		t.Errorf("the losing title is not kept:\n%s", text)
	}
	old := w.Project.NewCard("Later", "alice", planningtest.CardSpec{Title: "by hand"})
	n := w.Repo.Open("octocat", githubtest.IssueSpec{Title: "by hand", Labels: []string{"plan:ignore"}})
	if r := op.run("link", fmt.Sprintf("acme/web#%d", n), old); r.status != exitFailure || !strings.Contains(r.stderr, "plan:ignore") {
		t.Errorf("link of what no route takes: %+v", r)
	}
	for _, args := range [][]string{{"link", "acme/web#99", old}, {"link", "acme/web#1", strings.Repeat("0", 24)}, {"link", "web", old}, {"unlink", "acme/web#99"}} {
		if r := op.run(args...); r.status != exitUsage || r.stderr == "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// TestLinkByHandAgain: a pair was linked by hand and not worked yet. However often it is linked, it
// is not known whether another project has its issue.
func TestLinkByHandAgain(t *testing.T) {
	op := older(t, bridgetest.Options{}, "by hand")
	w := op.world
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	card := w.Project.NewCard("Later", "alice", planningtest.CardSpec{Title: "by hand"})
	op.fine("pause", "acme/web")
	op.fine("link", "acme/web#1", card)
	for _, first := range []string{"links", "unlink"} {
		op.fine(append([]string{first}, map[string][]string{"unlink": {"acme/web#1"}}[first]...)...)
		op.fine("link", "acme/web#1", card)
		if text := op.fine("links", "--state", "creating"); !strings.Contains(text, "acme/web#1") {
			t.Errorf("after %s and link:\n%s", first, text)
		}
	}
	op.fine("resume", "acme/web")
	op.until("the footer", func() bool { return strings.Contains(w.Project.Card(card).Summary, "acme/web#1") })
	op.until("the pair", func() bool { return strings.Contains(op.fine("links", "--state", "linked"), "acme/web#1") })
	if n := len(w.Project.Cards()); n != 1 {
		t.Errorf("%d cards", n)
	}
}
