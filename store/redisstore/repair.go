package redisstore

import (
	"context"
	"crypto/sha1" //nolint:gosec // it only tells records apart
	"encoding/hex"
	"fmt"

	"planbridge/mapping"
)

// repairPage is roughly how many elements one script of Repair reads. Others wait for it: less
// than 10 ms with 100,000 keys.
const repairPage = 200

// repairPasses are the passes of scripts/repair.lua, in order.
var repairPasses = []string{"list", "refs", "traits", "links", "live", "bulk", "wait", "parked", "form"}

// Repair implements [store.Store]. It repairs data that was stored in part, as scripts/repair.lua
// explains, or by an earlier program. The queues come after the links. A link removed before its
// page came may have left inconsistent entries in the queues, which their pass finds. A server
// that was started or promoted between two pages is another incarnation and is repaired anew.
func (s *Store) Repair(ctx context.Context, project mapping.ObjectID) error {
	sum := int64(0)
	for _, what := range repairPasses {
		for cursor, begun := "", false; cursor != "" || !begun; begun = true {
			r, err := s.run(ctx, scriptRepair, project, what, cursor, repairPage)
			if err == nil {
				cursor = r.str()
				sum += r.num()
				err = s.repairedPage(ctx, project, r)
			}
			if err != nil {
				return fmt.Errorf("repair %s of project %s: %w", what, project, err)
			}
		}
	}
	if sum > 0 {
		s.log.Error("the store had kept writes in part, and was repaired", "project", project, "places", sum)
	}
	return nil
}

// repairedPage reports the counts that a page corrected, and indexes the links of an earlier
// program.
func (s *Store) repairedPage(ctx context.Context, project mapping.ObjectID, r *reply) error {
	for n := r.num(); n > 0; n-- {
		s.log.Error("the store had a wrong count, which was corrected", "project", project, "count", r.str(), "was", r.num(), "is", r.num())
	}
	var n int
	var links []any
	for r.more() {
		id, record := r.str(), r.str()
		var l mapping.Link
		if err := decode(record, &l); err != nil {
			continue // its claim parks it
		}
		sum := sha1.Sum([]byte(record)) //nolint:gosec // see above
		marks := marksOf(&l)
		n, links = n+1, append(links, id, hex.EncodeToString(sum[:]), len(marks))
		for _, mark := range marks {
			links = append(links, mark)
		}
	}
	if n == 0 || r.err != nil {
		return r.err
	}
	_, err := s.run(ctx, scriptIndexLinks, project, append([]any{n}, links...)...)
	return err
}
