package planning_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/planning"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
)

// TestUnchangedAnswers: where the service has validators a backlog and sprints that did not
// change are not sent again, and each change shows. A plain service sends all each time.
func TestUnchangedAnswers(t *testing.T) {
	for _, validators := range []planningtest.Validators{"", planningtest.StrongETag, planningtest.WeakETag, planningtest.LastModified} {
		for _, gzip := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, gzip %t", validators, gzip), func(t *testing.T) { unchangedAnswers(t, validators, gzip) })
		}
	}
}

func unchangedAnswers(t *testing.T, validators planningtest.Validators, gzip bool) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	server, err := planningtest.Start(planningtest.Options{Traits: planningtest.Traits{Validators: validators, Gzip: gzip}, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	const secret = "0123456789abcdef0123456789abcdef"
	p := server.AddProject(planningtest.ProjectSpec{Title: "Web", Secret: secret, Members: []string{"alice"}, Buckets: []string{"Incoming"}})
	card := p.NewCard("Incoming", "alice", planningtest.CardSpec{Title: "One"})
	sprint := p.NewSprint(planningtest.SprintSpec{Title: "Now"})
	client, err := planning.New(planning.Options{BaseURL: server.URL(), Project: mapping.ObjectID(p.ID()), Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	now = now.Add(time.Minute)

	tag := ""
	read := func(step, title string, fresh bool) {
		t.Helper()
		server.ResetJournal()
		seen := ""
		var unchanged bool
		tag, unchanged, err = client.BacklogNews(t.Context(), tag, nil, func(_ mapping.ObjectID, _ string, c mapping.Card) error {
			seen = c.Title.Value
			return nil
		})
		sprints, sprintErr := client.News().Sprints(t.Context())
		if err != nil || sprintErr != nil || len(sprints) != 1 || sprints[0].Title != "Now" {
			t.Fatalf("%s: %v, %v, %v", step, sprints, err, sprintErr)
		}
		fresh = fresh || validators == ""
		if unchanged == fresh || fresh && seen != title || !fresh && seen != "" {
			t.Errorf("%s: unchanged is %t, and %q was seen", step, unchanged, seen)
		}
		status := http.StatusNotModified
		if fresh {
			status = http.StatusOK
		}
		if got := server.Journal()[0].Status; got != status {
			t.Errorf("%s: the answer has the status %d, want %d", step, got, status)
		}
	}
	read("first", "One", true)
	read("as it was", "One", false)
	p.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Two" })
	read("an edit", "Two", true)
	p.EditCard(card, "alice", func(e *planningtest.CardEdit) { e.Title = "Three" })
	read("one in the same second", "Three", true)
	now = now.Add(time.Minute)
	if validators == planningtest.LastModified {
		read("until its time is over", "Three", true)
	}
	read("as it was again", "Three", false)
	sprints, err := client.News().Sprints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sprints[0].Title = "the caller's own"
	if sprints, err = client.News().Sprints(t.Context()); err != nil || sprints[0].Title != "Now" {
		t.Errorf("sprints are %v, %v", sprints, err)
	}
	p.EditSprint(sprint, func(s *planningtest.SprintSpec) { s.Title = "Next" })
	if sprints, err = client.News().Sprints(t.Context()); err != nil || sprints[0].Title != "Next" {
		t.Errorf("sprints are %v, %v", sprints, err)
	}
}

// TestNothingIsProvenByAnAnswerOfBefore: where a service calls a list unchanged that did
// change, a complete look-up shows what is there all the same.
func TestNothingIsProvenByAnAnswerOfBefore(t *testing.T) {
	first := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"always"`)
		switch items := strings.HasSuffix(r.URL.Path, "/items"); {
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(http.StatusNotModified)
		case first && items || strings.HasSuffix(r.URL.Path, "/backlog/items"):
			fmt.Fprint(w, "[]")
		case items:
			fmt.Fprint(w, `[{"_id":"5447406bc955ca8169c61ef0","tasks":[]}]`)
		default:
			fmt.Fprint(w, `[{"_id":"5447406bc955ca8169c61ea0","isActive":true}]`)
		}
	}))
	t.Cleanup(server.Close)
	client, err := planning.New(planning.Options{BaseURL: server.URL, Project: "p", Secret: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	told := func() (cards int) {
		t.Helper()
		sprints, err := client.News().Sprints(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sprints {
			items, err := client.News().SprintItems(t.Context(), s.ID)
			if err != nil {
				t.Fatal(err)
			}
			cards += len(items.Cards)
		}
		return cards
	}
	found := func() (cards int) {
		t.Helper()
		if err := client.EachCard(t.Context(), func(mapping.Card) error { cards++; return nil }); err != nil {
			t.Fatal(err)
		}
		return cards
	}
	if n := told() + found(); n != 0 {
		t.Fatalf("%d cards are there at first", n)
	}
	first = false
	if n := told(); n != 0 {
		t.Errorf("%d cards, though the service says that nothing changed: this test shows nothing", n)
	}
	if n := found(); n != 1 {
		t.Errorf("%d cards, want the one that is there", n)
	}
}
