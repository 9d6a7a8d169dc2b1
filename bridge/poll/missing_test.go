package poll_test

import (
	"fmt"
	"strings"
	"testing"

	"planbridge/bridge/poll"
	"planbridge/mapping"
)

// TestMissing: a card that disappears is looked at once, and again seen when it
// is back.
func TestMissing(t *testing.T) {
	all := []mapping.Card{card("a"), card("b"), card("c"), card("d")}
	w := settled(t, all...)
	l := w.link(all[3])
	w.planned.put(incoming, "Incoming", all[:3]...)
	w.poll()
	if c := w.work(l); c == nil || len(c.Inbox) != 0 {
		t.Fatalf("claim %+v: want it due without a snapshot", c)
	}
	w.poll()
	if c := w.work(l); c != nil {
		t.Error("it is looked at in every round")
	}
	w.planned.put(incoming, "Incoming", all...)
	w.poll()
	if c := w.work(l); c == nil || len(c.Inbox) != 1 {
		t.Errorf("claim %+v: want it due with a snapshot", c)
	}
}

// TestMovedToSprint: a card that moves between listings is not missing.
func TestMovedToSprint(t *testing.T) {
	w := settled(t, card("a"), card("b"), card("c"))
	w.planned.sprints = []poll.Sprint{{ID: "s", Active: true}}
	w.planned.put(incoming, "Incoming", card("a"), card("b"))
	w.planned.items["s"] = listing{cards: []mapping.Card{card("c")}}
	w.poll()
	obs, _, _ := w.store.writes()
	for _, o := range obs {
		if o.Data == nil {
			t.Errorf("looked for %v", o.Refs)
		}
	}
}

// TestEmptyAndHalved: a listing that lost more than half is not believed.
func TestEmptyAndHalved(t *testing.T) {
	var all []mapping.Card
	for i := range 100 {
		all = append(all, card(fmt.Sprint("c", i)))
	}
	for _, left := range []int{0, 49} {
		w := settled(t, all...)
		w.planned.put(incoming, "Incoming", all[:left]...)
		w.poll()
		if obs, marked, _ := w.store.writes(); len(obs)+marked != 0 {
			t.Errorf("%d left: observed %d", left, len(obs))
		}
		if !strings.Contains(w.log.String(), "not believed") {
			t.Errorf("%d left: not reported", left)
		}
		w.planned.put(incoming, "Incoming", all...)
		w.poll()
		if obs, _, _ := w.store.writes(); len(obs) != 0 || len(w.links()) != 0 {
			t.Errorf("back from %d: observed %d", left, len(obs))
		}
	}
	w := settled(t, all...)
	w.planned.put(incoming, "Incoming", all[:60]...)
	for _, want := range []int{20, 20, 0} {
		w.poll()
		if obs, _, _ := w.store.writes(); len(obs) != want {
			t.Errorf("looked for %d of 40, want %d a round", len(obs), want)
		}
	}
}

// TestFewAreLookedFor: in a small project cards that disappear are read even where the project had
// no others. They are news when they are there again.
func TestFewAreLookedFor(t *testing.T) {
	w := settled(t, card("a"), card("b"))
	a := w.link(card("a"))
	w.planned.put(incoming, "Incoming")
	w.poll()
	if c := w.work(a); c == nil || len(c.Inbox) != 0 {
		t.Errorf("claim %+v: want it due without a snapshot", c)
	}
	w.planned.put(incoming, "Incoming", card("a"), card("b"))
	w.poll()
	if c := w.work(a); c == nil || len(c.Inbox) != 1 {
		t.Errorf("claim %+v: want it due with the card", c)
	}
}
