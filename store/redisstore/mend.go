package redisstore

import (
	"context"
	"fmt"

	"planbridge/mapping"
)

// How much one script of Mend looks at: others wait for it meanwhile.
const (
	mendShards = 64
	mendLinks  = 500
)

// Mend implements [store.Store]. What it finds was stored in part, of which
// scripts/mend.lua tells how that can be.
func (s *Store) Mend(ctx context.Context, project mapping.ObjectID) error {
	sum := int64(0)
	look := func(what string, from any, most int) (next string, err error) {
		r, err := s.run(ctx, scriptMend, project, what, from, most)
		if err != nil {
			return "", fmt.Errorf("mend the %s of project %s: %w", what, project, err)
		}
		next = r.str()
		sum += r.num()
		return next, r.err
	}
	if _, err := look("queues", "", 0); err != nil {
		return err
	}
	for shard := 0; shard < refShards; shard += mendShards {
		if _, err := look("refs", shard, mendShards); err != nil {
			return err
		}
	}
	for next, begun := "", false; next != "" || !begun; begun = true {
		var err error
		if next, err = look("links", next, mendLinks); err != nil {
			return err
		}
	}
	if sum > 0 {
		s.log.Error("the store had kept writes in part, and was mended", "project", project, "places", sum)
	}
	return nil
}
