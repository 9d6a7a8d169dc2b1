package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
	"planbridge/store/redisstore/redistest"
)

// secretWord stands in every text of the issue that is erased.
const secretWord = "Quetzalcoatlus"

// TestErase: erasing removes every text of an issue from the store's own bytes and keeps both items
// from entering again. It deletes the comments with losing texts.
func TestErase(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		op, issue := toBeErased(t, bridgetest.Options{})
		path := filepath.Join(filepath.Dir(op.config), "planbridge.db")
		verifyErase(op, issue, func() []byte {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return data
		})
	})
	t.Run("redis", func(t *testing.T) {
		server := redistest.Start(t)
		op, issue := toBeErased(t, bridgetest.Options{Store: server.URL})
		verifyErase(op, issue, func() []byte { return remembered(op) })
	})
}

// settled waits until three polls in a row found nothing to do.
func (op *operator) settled() {
	op.t.Helper()
	ctx, cancel := context.WithTimeout(op.t.Context(), patience)
	defer cancel()
	if err := op.world.Settled(ctx, 3); err != nil {
		op.t.Fatal(err)
	}
}

// remembered is all that the store answers. Redis holds it compressed.
func remembered(op *operator) []byte {
	var all []any
	o := op.world.App.Operator()
	conflicts, err := o.Conflicts(op.t.Context(), 100)
	if err != nil {
		op.t.Fatal(err)
	}
	err = o.Links(op.t.Context(), "", func(l *mapping.Link) error {
		history, err := o.History(op.t.Context(), l, 100)
		all = append(all, l, history)
		return err
	})
	if err != nil {
		op.t.Fatal(err)
	}
	data, err := json.Marshal(append(all, conflicts))
	if err != nil {
		op.t.Fatal(err)
	}
	return data
}

// toBeErased is a world with an issue that went through a conflict, and another
// one beside it.
func toBeErased(t *testing.T, o bridgetest.Options) (op *operator, issue int) {
	t.Helper()
	o.Route = "conflicts: {title: planning}"
	op = newOperator(t, o, nil)
	w := op.world
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.admin()
	issue = w.Repo.Open("mallory", githubtest.IssueSpec{Title: secretWord, Body: "Of " + secretWord})
	op.until("its card", func() bool { return len(w.Project.Cards()) == 1 && len(w.Project.Cards()[0].Tasks) == 1 })
	card := w.Project.Cards()[0].ID
	goOn := w.Hold()
	w.Repo.Edit(issue, "mallory", func(e *githubtest.IssueEdit) { e.Title = secretWord + " on GitHub" })
	w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = secretWord + " in planning" })
	goOn()
	op.until("the comment with the loser", func() bool { return len(w.Repo.Issue(issue).Comments) == 1 })
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "Another"})
	op.until("both cards", func() bool { return len(w.Project.Cards()) == 2 })
	op.settled()
	return op, issue
}

func verifyErase(op *operator, issue int, stored func() []byte) {
	t, w := op.t, op.world
	t.Helper()
	if !bytes.Contains(stored(), []byte(secretWord)) {
		t.Error("the word does not stand in the store before: this test shows nothing")
	}
	name := fmt.Sprintf("acme/web#%d", issue)
	card := w.Project.Cards()[0].ID
	text := op.fine("erase", name)
	if !strings.Contains(text, name+" is erased") || !strings.Contains(text, "--comments deletes it") {
		t.Errorf("erase: %s", text)
	}
	if bytes.Contains(stored(), []byte(secretWord)) {
		t.Error("a text stands in the store after it was erased")
	}
	if r := op.run("erase", "--author", "mallory"); r.status != exitUsage || !strings.Contains(r.stderr, "not found") {
		t.Errorf("the author is still known: %+v", r)
	}
	if text := op.fine("erase", card, "--comments"); !strings.Contains(text, "is deleted") {
		t.Errorf("erase --comments: %s", text)
	}
	if got := w.Repo.Issue(issue).Comments; len(got) != 0 {
		t.Errorf("comments on GitHub: %+v", got)
	}
	w.Repo.Edit(issue, "mallory", func(e *githubtest.IssueEdit) { e.Title = "Once more " + secretWord })
	op.settled()
	if got := w.Project.Card(card).Title; len(w.Project.Cards()) != 2 || strings.Contains(got, "Once more") {
		t.Errorf("what was erased was synchronised: %q, %d cards", got, len(w.Project.Cards()))
	}
	if text := op.fine("links", "--state", "erased"); !strings.Contains(text, name) {
		t.Errorf("links: %s", text)
	}
	op.fine("link", name, card)
	op.until("one title on both sides", func() bool { return w.Project.Card(card).Title == w.Repo.Issue(issue).Title })
}

// TestEraseOfAProjectWithoutAName: the configuration does not name the project any more that the
// texts are of. An erasure reaches them, and what was told of the issue meanwhile.
func TestEraseOfAProjectWithoutAName(t *testing.T) {
	for _, c := range []struct{ name, ask string }{{"an issue", "acme/web#1"}, {"an author", "--author=octocat"}, {"a card", ""}} {
		t.Run(c.name, func(t *testing.T) {
			m := newMover(t, bridgetest.Options{}, nil)
			people(m.operator)
			w := m.world
			m.unnamed = true
			m.point()
			w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "News of octocat" })
			if err := w.GitHub.Idle(t.Context()); err != nil {
				t.Fatal(err)
			}
			m.settled()
			ask := c.ask
			if ask == "" {
				ask = w.Project.Cards()[0].ID
			}
			if err := w.StopBridge(); err != nil { // else it may read what it erases once more
				t.Fatal(err)
			}
			if r := m.run("erase", ask); r.status != exitOK || strings.Count(r.out, "acme/web#1 is erased") != 1 {
				t.Errorf("erase %s: %+v", ask, r)
			}
			file := filepath.Join(filepath.Dir(m.config), "planbridge.db")
			for _, text := range []string{"Words of octocat.", "News of octocat"} {
				if data, err := os.ReadFile(file); err != nil || bytes.Contains(data, []byte(text)) {
					t.Errorf("%q stands in the store: %v", text, err)
				}
			}
			m.unnamed = false
			if err := w.StartBridge(); err != nil {
				t.Fatal(err)
			}
			m.admin()
			w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Of nobody" })
			m.settled()
			if old, now := w.Project.Cards(), m.there.Cards(); len(old) != 2 || len(now) != 0 || old[0].Title != "from GitHub" {
				t.Errorf("what was erased is synchronised: %+v %+v", old, now)
			}
		})
	}
}
