package poll_test

import (
	"slices"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

// TestServersRestartBetweenAnObservationAndItsMark: the servers behind the store lose an
// observation, and take its mark once they are back. The card enters all the same, and an edit
// is observed again. A card that was there before the first poll stays out.
func TestServersRestartBetweenAnObservationAndItsMark(t *testing.T) {
	w := newWorld(t)
	w.options.Restarted = true
	w.restart()
	w.planned.put(incoming, "Incoming", card("old"), card("edited"))
	w.adopted()
	w.poll()
	w.poll()
	w.planned.put(incoming, "Incoming", card("old"), card("edited", version(2)), card("new"))
	w.store.loses = true
	w.poll()
	if links := w.links(); w.store.loses || len(links) > 0 {
		t.Fatalf("nothing was lost: %d links", len(links))
	}
	w.store.writes()
	w.adopted()
	w.poll()
	if l := w.onlyLink(); l.Card.ID != "new" {
		t.Errorf("the link is that of card %s", l.Card.ID)
	}
	observed, _, _ := w.store.writes()
	for _, id := range []string{"edited", "new"} {
		if !slices.ContainsFunc(observed, func(o store.Observation) bool { return o.Item == mapping.CardRef(mapping.ObjectID(id)) }) {
			t.Errorf("card %s was not observed again", id)
		}
	}
}
