package rules

import (
	"cmp"
	"slices"

	"planbridge/store"
)

// Why is the reason that is shown of a key that is not worked: the one that is kept
// with it, else what follows from its state. A key that nobody put off is due later
// because of the delay with which it was observed, enqueued or woken.
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

// MaxReason bounds a reason that is kept with a key that is to be worked, in bytes.
const MaxReason = 1000

// Reason cuts a reason to its bound.
func Reason(why string) string { return cut(why, MaxReason) }

// SortStandings puts standings into their order and cuts them to a limit.
func SortStandings(all []store.Standing, limit int) []store.Standing {
	slices.SortFunc(all, store.CompareStandings)
	return all[:min(len(all), max(limit, 0))]
}
