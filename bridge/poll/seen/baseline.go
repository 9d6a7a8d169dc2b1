package seen

import (
	"slices"

	"planbridge/mapping"
)

// DocBaseline is the document that keeps the [Baseline], in the project's space.
const DocBaseline = "baseline"

// Baseline names the recorded buckets of each route, by the words of its configuration and by
// their ids. A card that was there by then is old, and a card that is first seen there later
// enters.
type Baseline map[string][]string

// Has reports whether the cards that were in a bucket when a route began are recorded.
func (b Baseline) Has(route *mapping.Route, bucket Bucket) bool {
	return slices.ContainsFunc(b[route.Identity()], func(name string) bool {
		return name == bucket.Title || name == string(bucket.ID)
	})
}
