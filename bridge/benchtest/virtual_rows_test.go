//go:build bench

package benchtest_test

import (
	"sort"

	"planbridge/bridge/github"
)

// measureHour plays an hour of a large organisation in virtual time.
func measureHour(n *numbers) {
	events := n.scaled(3000)
	h := hour(n.t, 500, 20, 1000, events)
	n.record("hour", "events", float64(events), "")
	n.record("hour", "writes that waited for their budget", h.waits, "")
	free := float64(events) - h.waits - float64(refused(h.calls))
	n.atLeast("large organisation (500 repositories, 20 projects): events in an hour of which none waits for a limit, in virtual time", "", free, float64(events))
	n.atMost("… GitHub's calls that count, for them all", "", float64(counted(h.calls)), float64(documented.RateLimit))
}

// measureOutage has edits wait for planning in virtual time, and asks how fast they are written
// when it is back.
func measureOutage(n *numbers) {
	o := outage(n.t, n.scaled(2000))
	n.record("outage", "until it is noticed that planning is back", o.noticed.Seconds(), "s")
	n.atLeast("planning is away for an hour, and edits wait for it, in virtual time: edits a second when it is back, against 16 at once of 100 ms", "", o.rate/o.own, 0.9)
	n.atMost("… the slowest edit of that moment (s)", "", o.slowest.Seconds(), 5)
}

// measureWrites asks how many writes of an hour GitHub's budgets have room for.
func measureWrites(n *numbers) {
	for _, class := range []github.WriteClass{github.ClassContent, github.ClassEdit} {
		most := 1 << 12
		writes := sort.Search(most, func(writes int) bool { return evenly(n.t, class, 10, writes+1) > 0 })
		given, longest := flooded(n.t, class)
		goal := map[github.WriteClass]float64{github.ClassContent: 450, github.ClassEdit: 3600}[class]
		n.atLeast("GitHub writes an hour before anything waits (%s), two replicas and ten routes, in virtual time", string(class), float64(writes), goal)
		n.atMost("… while one route asks for more than there is (%s)", string(class), float64(given), goal)
		n.atMost("… the longest wait of another route's change meanwhile, seconds (%s)", string(class), longest.Seconds(), 1)
	}
}
