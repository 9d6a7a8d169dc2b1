package reconcile

import (
	"fmt"

	"planbridge/mapping"
)

// restored sees to a link that was made of a marker because the store lost it.
// Nothing is decided before everything has been seen: a task or a comment of the
// link may still be under way, and people may have copied its card with the
// marker. The oldest card is the link's.
func restored(w *work) (verdict, error) {
	unmade := w.pair.State == mapping.Entering || w.pair.State == mapping.Creating
	if unmade || !w.pair.Synced.IsZero() || !w.unbased() {
		return pass, nil
	}
	if err := w.adopted(); err != nil || w.pair.Origin != mapping.GitHub {
		return pass, err
	}
	return pass, eachSeen(w, "card", func(c mapping.Card, _ bool) error {
		if c.CID < w.pair.Card.CID && w.ours(c.Summary.Value, mapping.MarkCard) {
			w.note(mapping.Planning, "", "restored", fmt.Sprintf("card %s is older than its copy %s", c.ID, w.pair.Card.ID))
			w.pair.Card = mapping.NameCard(&c)
		}
		return nil
	})
}
