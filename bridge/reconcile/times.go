package reconcile

import (
	"planbridge/mapping"
)

// When an attribute was edited last, as far as that is known. The policy newest
// compares the two sides' bounds.

// editedOnGitHub bounds when GitHub's value of an attribute was made.
func (w *work) editedOnGitHub(a mapping.Attribute) mapping.Interval {
	return w.book().EditedOnGitHub(a, w.link.Asking[a] != "")
}

// editedInPlanning bounds when planning's value of an attribute was made. The polls
// tell of the values that they saw. Of the state they tell by the counters of all of
// the card's tasks: only where these moved by one step is that step the state's.
func (w *work) editedInPlanning(a mapping.Attribute) mapping.Interval {
	if w.card == nil {
		return mapping.Interval{}
	}
	if a.Spec().Tracked {
		if w.card.CountersVersion > w.link.Card.CountersVersion+1 {
			return mapping.Interval{}
		}
		return w.card.Edited(a)
	}
	if polled, ok := mapping.CardView(w.card, w.set.Keys)[a]; !ok || polled.Version != w.p[a].Version {
		return mapping.Interval{}
	}
	return w.card.Edited(a)
}
