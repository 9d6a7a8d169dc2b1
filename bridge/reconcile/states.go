package reconcile

import (
	"fmt"

	"planbridge/mapping"
)

// A pair's state changes as the table in [mapping.Transitions] has it, and here only. An
// event that the table does not know is a fault of this program: from then on the claim
// writes nothing, neither to a service nor to the store, and the key is parked. What the
// claim was given stays with the key.

// Invariants are the names of those that a claim can break.
func Invariants() []string {
	names := []string{mapping.InvariantStates, invariantRecord}
	for _, i := range mapping.Invariants {
		names = append(names, i.Name)
	}
	return names
}

// happens changes the state of the work's pair.
func (w *work) happens(e mapping.PairEvent) {
	w.checkTransition(w.pair.Advance(e), where(w.owner))
}

// happensTo changes the state of a task of the card and what it stands for.
func (w *work) happensTo(c *mapping.Pair, e mapping.PairEvent) {
	w.checkTransition(c.Advance(e), string(c.Kind)+" task "+string(c.Card.ID))
}

// addChild adds a task of the card, or one that is to be made, to the link.
func (w *work) addChild(e mapping.PairEvent, c *mapping.Pair) {
	w.happensTo(c, e)
	w.link.Children = append(w.link.Children, c)
}

func (w *work) checkTransition(err error, pair string) {
	if err != nil {
		w.breaks(&mapping.BrokenError{Invariant: mapping.InvariantStates, Err: fmt.Errorf("%s: %w", pair, err)})
	}
}

// breaks takes in that the claim broke an invariant. The first counts.
func (w *work) breaks(err *mapping.BrokenError) {
	w.count(CountViolations, w.claim.Link.Route, err.Invariant)
	w.log.Error("invariant broken", "invariant", err.Invariant, "err", err.Err)
	if w.broken == nil {
		w.broken = err
	}
}

// brokenBy is the invariant that the claim broke, or that the record breaks which it is
// about to store; nil: none.
func (w *work) brokenBy() error {
	if w.broken == nil {
		if b := w.claim.Link.Broken(); b != nil {
			w.breaks(b)
		}
	}
	if w.broken != nil {
		return w.broken
	}
	return nil
}

// backTo is the event that ends a pair's rest: the one given where the pair is whole.
func (w *work) backTo(whole mapping.PairEvent) mapping.PairEvent {
	if w.pair.Whole() {
		return whole
	}
	return mapping.EventResumed
}
