package memstore

import (
	"context"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/queue"
	"planbridge/store/internal/rules"
)

// Tally implements [store.Links]. It visits all links, as a memory has few.
func (s *Store) Tally(ctx context.Context, project mapping.ObjectID) (t store.Tally, err error) {
	t.Links, t.Failures = map[string]map[mapping.LinkState]int{}, map[string]int{}
	err = s.read(ctx, project, func(sp *space, now int64) error {
		t.Queued, t.Oldest = sp.queued(), queue.Oldest(sp, now)
		for _, r := range sp.Links.ascend("") {
			rules.Counted(t.Links, r.class, 1)
			if r.Work.Place == queue.Parked {
				t.Failures[r.route]++
			}
		}
		return nil
	})
	if err != nil {
		return t, fmt.Errorf("tally of project %s: %w", project, err)
	}
	return t, nil
}
