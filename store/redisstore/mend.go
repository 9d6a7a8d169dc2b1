package redisstore

import (
	"context"
	"fmt"

	"planbridge/mapping"
)

// mendPage is how many things one script of Mend looks at, more or less: others
// wait for it meanwhile, with 100,000 keys less than 10 ms.
const mendPage = 200

// Mend implements [store.Store]. What it finds was stored in part, of which
// scripts/mend.lua tells how that can be. The queues come last: what a link that
// did not agree left in them when it was removed, before its page came, is found
// there. A server that was started or promoted between two pages is another
// incarnation, which is mended anew.
func (s *Store) Mend(ctx context.Context, project mapping.ObjectID) error {
	sum := int64(0)
	for _, what := range []string{"refs", "links", "live", "bulk", "wait", "parked"} {
		for cursor, begun := "", false; cursor != "" || !begun; begun = true {
			r, err := s.run(ctx, scriptMend, project, what, cursor, mendPage)
			if err == nil {
				cursor = r.str()
				sum += r.num()
				err = r.err
			}
			if err != nil {
				return fmt.Errorf("mend %s of project %s: %w", what, project, err)
			}
		}
	}
	if sum > 0 {
		s.log.Error("the store had kept writes in part, and was mended", "project", project, "places", sum)
	}
	return nil
}
