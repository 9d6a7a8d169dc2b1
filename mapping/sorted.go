package mapping

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Sorted ranges over a map in the order of its keys, for loops whose order somebody sees:
// a call to a service or the store, a line of the log. As in a plain range, entries that
// are deleted meanwhile are left out.
func Sorted[K cmp.Ordered, V any](m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if v, ok := m[k]; ok && !yield(k, v) {
				return
			}
		}
	}
}

// Count says a number with its noun, and with its verb where it has one.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
