package rules

import (
	"cmp"
	"slices"

	"planbridge/store"
)

// Why returns the reason that is shown for a key that is not worked: its own, or else one that
// follows from its state. A key that nobody put off is due later because of the delay of its
// observation, Enqueue or Wake.
func Why(state store.KeyState, service, reason string) string {
	derived := ""
	switch state {
	case store.KeyLater:
		derived = "it was seen or taken up a moment ago: what belongs to it may follow, or others go first"
	case store.KeyWaiting:
		derived = "it waits for " + service
	case store.KeyParked:
		derived = "it was given up"
	default:
		return ""
	}
	return cmp.Or(reason, derived)
}

// MaxReason bounds the reason of a key, in bytes.
const MaxReason = 1000

// Reason cuts a reason to its bound.
func Reason(why string) string { return cut(why, MaxReason) }

// SortStandings sorts standings and cuts them to a limit.
func SortStandings(all []store.Standing, limit int) []store.Standing {
	slices.SortFunc(all, store.CompareStandings)
	return all[:min(len(all), max(limit, 0))]
}
