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
