package verifier

import (
	"context"
	"maps"
	"slices"
	"time"

	"planbridge/bridge/inventory"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// repairPatience bounds the wait for a repair.
const repairPatience = time.Minute

// held reports whether none of the differences would be written.
func (d drift) held() bool {
	return !slices.ContainsFunc(d.diffs, func(diff status.Difference) bool { return diff.Held == "" })
}

// repair makes the differing links due for a whole read, waits for them, and returns those
// that still differ. A difference that is held after the read stays, and is not awaited.
func (v *run) repair(ctx context.Context, differing map[store.Key]drift) (map[store.Key]drift, error) {
	asked := v.Clock.Now()
	for _, key := range inOrder(differing) {
		d := differing[key]
		pairs := d.gone
		if root := &d.link.Pair; !slices.Contains(pairs, root) {
			pairs = append([]*mapping.Pair{root}, pairs...)
		}
		if err := v.makeDue(ctx, key, pairs); err != nil {
			return nil, err
		}
	}
	still, looking := maps.Clone(differing), maps.Clone(differing)
	for until := asked.Add(repairPatience); len(looking) > 0 && v.Clock.Now().Before(until); {
		if err := inventory.Wait(ctx, inventory.LookEvery); err != nil {
			return nil, err
		}
		for _, key := range inOrder(looking) {
			l, err := v.Store.Link(ctx, key)
			if err == nil && !l.Synced.After(asked) && v.compares(l) {
				continue
			}
			d, err := v.guardedRead(ctx, key)
			if err != nil {
				return nil, err
			}
			if still[key] = d; len(d.diffs) == 0 {
				delete(still, key)
			}
			if d.held() {
				delete(looking, key)
			}
		}
	}
	v.job.Update(func(now *status.Job) { now.Verify.Repaired = len(differing) - len(still) })
	return still, nil
}
