package reconcile_test

import (
	"testing"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// TestACopyIsSeenFirst: the store is lost, and a link is made anew of the marker of a copy
// of its card, which a listing shows first. The card itself is the link's.
func TestACopyIsSeenFirst(t *testing.T) {
	t.Parallel()
	if err := inWorld(t, func(w *world) {
		linked(w)
		w.settle()
		card := w.card()
		w.rebuildFromCopy()
		w.settle()
		for _, l := range w.all() {
			if l.Issue.ID == w.issue().ID && l.Card.ID != card.ID {
				w.fail("the issue's card is %s, want %s", l.Card.ID, card.ID)
			}
		}
	}); err != nil {
		t.Error(err)
	}
}

// rebuildFromCopy loses the store after a person copied the card, and makes the link anew of the
// copy's marker.
func (w *world) rebuildFromCopy() {
	card := w.card()
	copied := w.plan.add(reconcile.NewItem{Title: card.Title.Value, Summary: card.Summary.Value, Estimate: "3"})
	w.rebuildFrom(copied, card)
}

// rebuildFrom loses the store, and makes the link anew of the cards' markers.
func (w *world) rebuildFrom(cards ...*mapping.Card) {
	w.loseStore()
	for _, c := range cards {
		_, marks := keys.Body(c.Summary.Value)
		ref := mapping.CardRef(c.ID)
		obs := store.Observation{Refs: []mapping.Ref{ref}, Item: ref, At: c.Version, Digest: mapping.DigestCard(c), Data: encode(c), Link: marks[0].Link}
		w.observe(obs, w.route.RebuildFromCard(c, marks[0], w.issue().Repo, w.issue().Number, time.Now()))
	}
}
