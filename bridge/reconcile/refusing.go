package reconcile

import (
	"slices"
	"sync"

	"planbridge/mapping"
)

// refusing are the ids of buckets under which planning took no card: where a bucket
// has two, one may be good for its listing only (facts of real data). They are tried
// after the others, since each try of an import waits for its batch, and two of these
// are more than a short lease. It is safe for concurrent use.
type refusing struct{ ids sync.Map }

func (r *refusing) add(id mapping.ObjectID) { r.ids.Store(id, true) }

// last returns a bucket's ids in the order in which they are to be tried.
func (r *refusing) last(ids []mapping.ObjectID) []mapping.ObjectID {
	out := slices.Clone(ids)
	slices.SortStableFunc(out, func(a, b mapping.ObjectID) int { return r.rank(a) - r.rank(b) })
	return out
}

func (r *refusing) rank(id mapping.ObjectID) int {
	if _, ok := r.ids.Load(id); ok {
		return 1
	}
	return 0
}
