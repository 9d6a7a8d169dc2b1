package reconcile

import (
	"strconv"

	"planbridge/mapping"
)

// missingInARow ends the search for an issue by number: a number may be
// missing because a discussion or a deleted issue took it.
const missingInARow = 10

// readsPerClaim bounds how many issue numbers one claim reads; the search goes
// on where it stopped.
const readsPerClaim = 100

// ours reports whether a text carries a marker by which its item is this
// link's: one made for this link, or one that names this link's issue (for a
// card) or card (for an issue) as its partner, which is how an item is known
// whose link was lost with the store.
func (w *work) ours(text string, kind mapping.MarkerKind) bool {
	partner := string(w.pair.Card.ID)
	if kind == mapping.MarkCard || kind == mapping.MarkTask {
		partner = strconv.FormatInt(w.owner.Issue.ID, 10)
	}
	_, marks := w.set.Keys.Body(text)
	for _, m := range marks {
		if m.Kind == kind && (m.Link == w.link.ID && !w.pair.IsTask() || m.Partner == partner) {
			return true
		}
	}
	return false
}

// markerOn is the kind of the marker that the link's item on a side carries
// where the bridge made it.
func (w *work) markerOn(side mapping.Side) mapping.MarkerKind {
	switch {
	case side == mapping.GitHub && w.pair.IsTask():
		return mapping.MarkSubIssue
	case side == mapping.GitHub:
		return mapping.MarkIssue
	case w.pair.IsTask():
		return mapping.MarkTask
	}
	return mapping.MarkCard
}
