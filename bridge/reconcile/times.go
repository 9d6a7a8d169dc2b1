package reconcile

import (
	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// When an attribute was edited last, as far as that is known. The policy newest
// compares the two sides' bounds.

// editedOnGitHub bounds when GitHub's value of an attribute was made.
func (w *work) editedOnGitHub(a mapping.Attribute) mapping.Interval {
	return w.book().EditedOnGitHub(a, w.pair.Asking[a] != "")
}

// editedInPlanning bounds when planning's value of an attribute was made.
func (w *work) editedInPlanning(a mapping.Attribute) mapping.Interval {
	if w.card == nil {
		return mapping.Interval{}
	}
	return journal.EditedInPlanning(a, w.card, mapping.CardView(w.card, w.set.Keys), w.p, w.pair.Card.CountersVersion)
}
