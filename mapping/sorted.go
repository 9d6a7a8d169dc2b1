package mapping

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Sorted ranges over a map in the order of its keys. It is for loops with a visible order: calls to
// a service or the store, lines of the log.
func Sorted[K cmp.Ordered, V any](m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if v, ok := m[k]; ok && !yield(k, v) {
				return
			}
		}
	}
}

// Count writes a number with its noun, and with its verb where there is one.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
