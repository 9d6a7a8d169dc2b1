package importer

import (
	"context"
	"errors"
	"slices"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// looked is how many of the keys in hand are asked what they wait for.
const looked = 5

// waits tells what the keys wait for. Those of a project wait for a service that is away or
// a route that is paused, the oldest of the import until a moment.
func (im *run) waits(ctx context.Context, depths map[mapping.ObjectID]store.Depth) ([]status.JobWait, error) {
	var out []status.JobWait
	add := func(w status.JobWait) {
		i := slices.IndexFunc(out, func(o status.JobWait) bool { return o.For == w.For })
		switch {
		case i < 0:
			out = append(out, w)
		case w.Until.Before(out[i].Until):
			out[i] = w
		}
	}
	for _, d := range mapping.Sorted(depths) {
		for service := range mapping.Sorted(d.Waiting) {
			add(status.JobWait{For: im.Inventory.ServiceWords(service)})
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
		if at.State == store.KeyLater && at.At.After(im.Now()) {
			add(status.JobWait{For: at.Reason, Until: at.At})
		}
	}
	slices.SortFunc(out, func(a, b status.JobWait) int { return strings.Compare(a.For, b.For) })
	return out, nil
}
