package randomtest_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/nettest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
	"planbridge/store"
)

// TestWitnessSeesFaults: forbidden acts of claims are reported, and allowed ones are not.
func TestWitnessSeesFaults(t *testing.T) {
	t.Parallel()
	planning, err := planningtest.Start(planningtest.Options{Network: nettest.NewInProcess()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { planning.Close() })
	project := planning.AddProject(planningtest.ProjectSpec{Title: "web", Members: []string{"alice"}, Buckets: []string{"Later"}})
	card := mapping.ObjectID(project.NewCard("Later", "alice", planningtest.CardSpec{Title: "a title"}))
	key := store.Key{Project: "project", Link: "link"}
	claim := &store.Claim{Key: key, Token: 2, Until: time.Now().Add(time.Hour)}
	linked := func(issue int64, title string, version int64) *mapping.Link {
		l := &mapping.Link{ID: "link", Project: "project"}
		l.State, l.Issue.ID, l.Card.ID = mapping.Linked, issue, card
		l.Base = map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: title, Planning: title, Version: version}}
		return l
	}
	for name, c := range map[string]struct {
		does func(*witness)
		want string // "": nothing is wrong
	}{
		"its own claim writes": {func(w *witness) { w.Sent("a", "start", key.String(), "PUT /x", nil) }, ""},
		"another actor writes": {func(w *witness) { w.Sent("b", "start", key.String(), "PUT /x", nil) }, "holds"},
		"another actor reads":  {func(w *witness) { w.Sent("b", "start", key.String(), "GET /x", nil) }, ""},
		"another actor asks":   {func(w *witness) { w.Sent("b", "start", key.String(), "POST /graphql", []byte(`{"query":"query{}"}`)) }, ""},
		"a write for no key":   {func(w *witness) { w.Sent("b", "catch-up", "", "PUT /x", nil) }, ""},
		"it writes too late": {func(w *witness) {
			w.Claimed("a", &store.Claim{Key: key, Token: 3, Until: time.Now().Add(-time.Second)})
			w.Sent("a", "start", key.String(), "PUT /x", nil)
		}, "ended"},
		"a version of planning's":   {func(w *witness) { w.Stored("a", claim, linked(1, "a title", 0)) }, ""},
		"a version that never was":  {func(w *witness) { w.Stored("a", claim, linked(1, "a title", 7)) }, "never"},
		"another text in a version": {func(w *witness) { w.Stored("a", claim, linked(1, "another", 0)) }, "never"},
		"another partner": {func(w *witness) {
			w.Stored("a", claim, linked(1, "a title", 0))
			w.Stored("a", claim, linked(2, "a title", 0))
		}, "partner"},
		"another record of its name": {func(w *witness) {
			w.Stored("a", claim, linked(1, "a title", 0))
			w.Stored("a", claim, nil)
			w.Stored("a", claim, linked(2, "a title", 0))
		}, ""},
		"it waits without a reason": {func(w *witness) { w.Ends("a", claim, store.Outcome{After: time.Hour}) }, "reason"},
	} {
		w := &witness{people: &people{projects: []*planningtest.Project{project}}}
		w.Claimed("a", claim)
		c.does(w)
		if got := strings.Join(w.wrong, "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestListingsOfPollsAreKnown: keys and operators list a backlog as well, to look for a card.
func TestListingsOfPollsAreKnown(t *testing.T) {
	const listing = "GET /api/projects/p/backlog/items"
	for name, c := range map[string]struct {
		loop, key, what string
		want            bool
	}{
		"a poll's listing":           {"poll of web", "", listing, true},
		"a poll's read of something": {"poll of web", "", "GET /api/projects/p/iterations", false},
		"a key's lookup":             {"start", "p/l", listing, false},
		"an operator's lookup":       {"", "", listing, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &witness{}
			w.Sent("a", c.loop, c.key, c.what, nil)
			calls := []planningtest.Call{{Op: planningtest.OpBacklogItems, Status: http.StatusOK, Time: time.Now()}}
			if got := len(w.polls(calls)) > 0; got != c.want {
				t.Errorf("%s: a poll %t, want %t", name, got, c.want)
			}
		})
	}
}
