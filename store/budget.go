package store

import "time"

// Budget is an allowance of items that all replicas share: writes to GitHub, or
// tasks that a route makes. In any 60 seconds at most PerMinute items are given,
// in any hour at most PerHour; at most Burst of them back to back, after which
// they come at an even PerMinute. A bound that is not positive bounds nothing.
type Budget struct {
	Name                      string
	PerMinute, PerHour, Burst int
	// Holds are the names of what [Leases.Hold] may close: nothing is given
	// while one of them is closed.
	Holds []string
}

// Rank orders the uses of a budget: a lower one goes first.
type Rank int

// The ranks.
const (
	RankPeople Rank = iota // carries or answers a person's change
	RankShown              // only shows planning's state
	RankImport             // belongs to an import
)

// Ask is a wish for items of a budget. Several may want items at once; who goes
// first and how much is kept back decides the store:
//
//   - A lower Rank goes first, then the route that has used less lately, then
//     the author within the route that has. Who waits is remembered until the
//     time that it was told, so that others leave it the next item.
//   - The last twelfth of each bound is kept for people's changes of routes that
//     have used less than their share, the last sixth for people's changes, the
//     last third for everything but imports.
//
// A flood of whatever rank thus leaves a quiet route a twelfth of the burst, the
// minute and the hour, which it has at once. Beyond that it is the first of those
// who wait: its next item comes when the even flow has one, at 60 a minute after a
// second, or, where the minute is used up by people of many routes, in its order.
type Ask struct {
	Items  int    // how many are wanted; 0: one
	Route  string // who shares the budget; "": the ask is alone and served at once
	Author string // who shares the route's part; "": nobody
	Rank   Rank
}

// Grant answers an Ask.
type Grant struct {
	Items int           // how many were given, at most as many as were asked; 0: none
	Wait  time.Duration // for none: when to ask again
	Held  bool          // for none: a hold is why
}
