package reconcile

import (
	"fmt"

	"planbridge/mapping"
)

// A pair's state changes only here, by the table in [mapping.Transitions]. An event that the
// table lacks is a fault of this program. From then on the claim writes nothing, neither to a
// service nor to the store, and the key is parked. The snapshots and events of the claim stay
// with the key.

// Invariants are the names of the invariants that a claim can break.
func Invariants() []string {
	names := []string{mapping.InvariantStates, invariantRecord}
	for _, i := range mapping.Invariants {
		names = append(names, i.Name)
	}
	return names
}

// happens applies an event to the state of the work's pair.
func (w *state) happens(e mapping.PairEvent) {
	w.checkTransition(w.pair.Advance(e), where(w.owner))
}

// happensTo applies an event to the state of a task of the card.
func (w *state) happensTo(c *mapping.Pair, e mapping.PairEvent) {
	w.checkTransition(c.Advance(e), string(c.Kind)+" task "+string(c.Card.ID))
}

// addChild adds a task of the card, existing or wanted, to the link.
func (w *state) addChild(e mapping.PairEvent, c *mapping.Pair) {
	w.happensTo(c, e)
	w.link.Children = append(w.link.Children, c)
}

func (w *state) checkTransition(err error, pair string) {
	if err != nil {
		w.breaks(&mapping.BrokenError{Invariant: mapping.InvariantStates, Err: fmt.Errorf("%s: %w", pair, err)})
	}
}

// invariantRecord names the invariant that a record stays within its bound.
const invariantRecord = "record"

// breaks records that the claim broke an invariant. The first one counts.
func (w *state) breaks(err *mapping.BrokenError) {
	w.count(CountViolations, w.claim.Link.Route, err.Invariant)
	w.log.Error("invariant broken", "invariant", err.Invariant, "err", err.Err)
	if w.broken == nil {
		w.broken = err
	}
}
