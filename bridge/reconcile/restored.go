package reconcile

import (
	"context"
	"encoding/json"
	"fmt"

	"planbridge/mapping"
)

// restored sees to a link that was made of a card's marker because the store
// lost it. People may have copied the card with its marker, so nothing is
// decided before all cards have been seen; the oldest one is the link's.
func (w *work) restored(ctx context.Context) error {
	if w.link.Origin != mapping.GitHub || !w.link.Synced.IsZero() || !w.unbased() {
		return nil
	}
	if err := w.adopted(ctx); err != nil {
		return err
	}
	for ref, s := range w.claim.Inbox {
		var c mapping.Card
		if ref.Kind() != "card" {
			continue
		}
		if err := json.Unmarshal(s.Data, &c); err != nil {
			return fmt.Errorf("stored snapshot of %s: %w", ref, err)
		}
		if c.CID < w.link.Card.CID && w.ours(c.Summary.Value, mapping.MarkCard) {
			w.note(mapping.Planning, "", "restored", fmt.Sprintf("card %s is older than its copy %s", c.ID, w.link.Card.ID))
			w.link.Card = mapping.CardID{ID: c.ID, CID: c.CID, Bucket: c.Bucket, BucketName: c.BucketName}
		}
	}
	return nil
}
