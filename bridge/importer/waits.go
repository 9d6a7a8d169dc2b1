package importer

import (
	"context"
	"errors"
	"time"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// looked is how many of the keys in hand are asked for their reason to wait.
const looked = 5

// waits reports the obstacles of the keys. The keys of a project may wait for a service that is
// away or a paused route. The oldest keys of the import may wait for a moment.
func (im *run) waits(ctx context.Context, depths map[mapping.ObjectID]store.Depth) (status.Waits, error) {
	out := status.Waits{}
	for _, d := range mapping.Sorted(depths) {
		for service := range mapping.Sorted(d.Waiting) {
			out.Add(im.Inventory.ServiceWords(service), time.Time{})
		}
	}
	for _, key := range im.waiting[:min(looked, len(im.waiting))] {
		at, err := im.Store.Standing(ctx, key)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if at.State == store.KeyLater && at.At.After(im.Clock.Now()) {
			out.Add(at.Reason, at.At)
		}
	}
	return out, nil
}
