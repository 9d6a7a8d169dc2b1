package poll_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/poll"
	"planbridge/mapping"
)

// reading notes which cards a round had to take apart.
type reading struct {
	*service
	cards     []string
	unchanged bool // the last answer said so
}

func (s *reading) BacklogNews(ctx context.Context, since string, known func(mapping.ObjectID, string, []byte, []byte) bool, visit func(mapping.ObjectID, string, mapping.Card) error) (string, bool, error) {
	tag, unchanged, err := s.service.BacklogNews(ctx, since, known, func(b mapping.ObjectID, title string, c mapping.Card) error {
		s.cards = append(s.cards, string(c.ID))
		return visit(b, title, c)
	})
	s.unchanged = unchanged
	return tag, unchanged, err
}

// TestOnlyNewsIsTakenApart: a card with the same text as before is not decoded. It is decoded once
// its text, its bucket, its form in a sprint or the routes change.
func TestOnlyNewsIsTakenApart(t *testing.T) {
	w := newWorld(t)
	s := &reading{service: w.planned}
	w.options.Planning = s
	w.restart()
	w.adopted()
	w.planned.put(incoming, "Incoming", card("a"), card("b"))
	w.planned.put(other, "Other", card("c"))
	round := func(step, want string) {
		t.Helper()
		s.cards = nil
		w.poll()
		slices.Sort(s.cards)
		if got := strings.Join(s.cards, " "); got != want {
			t.Errorf("%s: took apart %q, want %q", step, got, want)
		}
	}
	w.poll()
	round("unchanged", "")
	w.planned.put(incoming, "Incoming", card("a", version(2)), card("b"))
	round("edited", "a")
	round("unchanged again", "")
	w.planned.put(incoming, "Incoming", card("a"), card("b"))
	round("an older listing", "a")
	w.planned.put(incoming, "Incoming", card("a", version(2)), card("b"))
	w.poll()
	w.poll()
	w.planned.buckets[1].title = "Renamed"
	round("bucket renamed", "c")
	w.poll()
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.items["s"] = listing{cards: []mapping.Card{card("b")}}
	round("shown by a sprint", "b")
	w.routes = append(w.routes, route("renamed", "Renamed"))
	round("another route", "b c")
	if n := len(w.links()); n != 0 {
		t.Errorf("%s", fmt.Sprint(n, " links were made of what was known"))
	}
}
