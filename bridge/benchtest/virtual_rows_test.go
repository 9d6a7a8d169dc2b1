//go:build bench

package benchtest_test

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
