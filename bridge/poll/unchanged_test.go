package poll_test

import (
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/poll"
	"planbridge/mapping"
)

// TestTheFirstRoundOfAProcessDecodesNoKnownCard: the text of a card and its versions are
// remembered across a restart, so that only what changed meanwhile is decoded.
func TestTheFirstRoundOfAProcessDecodesNoKnownCard(t *testing.T) {
	w := newWorld(t)
	s := &reading{service: w.planned}
	w.options.Planning = s
	w.restart()
	w.adopted()
	w.planned.put(incoming, "Incoming", card("a"), card("b", func(c *mapping.Card) { c.StateID = "b-state" }), card("c"))
	w.poll()
	w.planned.put(incoming, "Incoming", card("a"), card("b", func(c *mapping.Card) { c.StateID = "b-state" }), card("c", version(2)))
	w.store.writes()
	w.restart()
	s.cards = nil
	w.poll()
	if !slices.Equal(s.cards, []string{"c"}) {
		t.Errorf("decoded %q, want the card that changed", s.cards)
	}
	if observed, marked, _ := w.store.writes(); len(observed) != 1 || marked != 1 {
		t.Errorf("observed %d cards and marked %d, want the one", len(observed), marked)
	}
	w.poll()
	w.planned.put(incoming, "Incoming", card("a", version(3)), card("b", func(c *mapping.Card) { c.StateID = "b-state" }), card("c", version(2)))
	w.poll()
	observed, _, _ := w.store.writes()
	if len(observed) != 1 {
		t.Fatalf("observed %d cards, want the one", len(observed))
	}
	if data := string(observed[0].Data); !strings.Contains(data, `"times":{"title":`) {
		t.Errorf("when the title was edited is not known: %s", data)
	}
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.items["s"] = listing{cards: []mapping.Card{card("b", version(5))}}
	w.planned.put(incoming, "Incoming", card("a", version(3)), card("c", version(2)))
	w.poll()
	if observed, _, _ := w.store.writes(); len(observed) != 1 || !strings.Contains(string(observed[0].Data), `"Incoming"`) || !strings.Contains(string(observed[0].Data), "b-state") {
		t.Errorf("observed %v, want the card of the sprint in its bucket", observed)
	}
}

// TestAnUnchangedBacklogIsNotRead: with the tag of the last answer nothing is visited, and
// what has to be found out by a whole reading still is.
func TestAnUnchangedBacklogIsNotRead(t *testing.T) {
	w := newWorld(t)
	s := &reading{service: w.planned}
	s.tagged = true
	w.options.Planning = s
	w.restart()
	w.adopted()
	w.planned.put(incoming, "Incoming", card("a"), card("b"))
	w.planned.put(other, "Other", card("c"))
	round := func(step string, unchanged bool, want string) {
		t.Helper()
		s.cards, s.unchanged = nil, false
		w.poll()
		slices.Sort(s.cards)
		if got := strings.Join(s.cards, " "); got != want || s.unchanged != unchanged {
			t.Errorf("%s: decoded %q, the backlog unchanged: %t; want %q, %t", step, got, s.unchanged, want, unchanged)
		}
	}
	w.poll() // adopts
	round("first", false, "")
	round("as it was", true, "")
	w.planned.put(incoming, "Incoming", card("a", version(2)), card("b"))
	round("an edit", false, "a")
	round("as it was again", true, "")

	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.list("s", card("b"))
	round("a card in a sprint, too", false, "b")
	round("both as they were", true, "")
	w.planned.list("s", card("b", version(3)))
	round("the sprint shows an edit", false, "b")
	round("both as they were again", true, "")
	w.store.writes()
	w.planned.list("s")
	round("the sprint shows it no more", true, "")
	if observed, _, _ := w.store.writes(); len(observed) != 0 {
		t.Errorf("observed %v", observed)
	}

	w.planned.put(incoming, "Incoming", card("a", version(2)))
	round("a card is gone", false, "")
	if observed, _, _ := w.store.writes(); len(observed) != 1 || observed[0].Refs[0] != mapping.CardRef("b") {
		t.Errorf("observed %v, want the card that is gone", observed)
	}
	w.routes = append(w.routes, route("more", "Other"))
	round("another route", false, "c")
	round("the buckets are recorded", false, "")
	round("at rest", true, "")
	w.restart()
	round("another process", false, "")
}
