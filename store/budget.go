package store

import "time"

// Budget is an allowance of items that all replicas share: writes to GitHub, or tasks that a
// route makes. It gives at most PerMinute items in any 60 seconds, and at most PerHour in any
// hour. At most Burst items come back to back. Further ones come at an even PerMinute. A bound of
// 0 or less bounds nothing.
type Budget struct {
	Name                      string
	PerMinute, PerHour, Burst int
	// Holds are the names that [Leases.Hold] may close. The budget gives nothing while one of
	// them is closed.
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

// Ask is a request for items of a budget. Where several ask at once, the store decides their
// order and what it keeps back:
//
//   - A lower Rank goes first, then the route with less recent use, then the author with less
//     recent use within the route. The store remembers a waiting ask until its Wait is over, and
//     leaves it the next item.
//   - The last twelfth of each bound is kept for people's changes of routes below their share.
//     The last sixth is kept for people's changes, the last third for everything but imports.
//
// A flood of any rank thus leaves a quiet route a twelfth of the burst, of the minute and of the
// hour at once. Beyond that it is the first of those who wait. Its next item comes with the even
// flow: at 60 a minute after a second. Where people of many routes use up the minute, it comes in
// the order above.
type Ask struct {
	Items  int    // items asked for; 0: one
	Route  string // the route that asks; "": the ask shares with nobody and is served at once
	Author string // the author within the route; "": nobody
	Rank   Rank
}

// Grant answers an Ask.
type Grant struct {
	Items int           // items given, at most as many as asked for; 0: none
	Wait  time.Duration // where none was given: when to ask again
	Held  bool          // where none was given: a hold is the reason
}
