// Package journal draws conclusions about the bridge's own writes from edits that were seen on
// GitHub. It finds which edit each write made, which value it ran over, and which writes may still
// take effect. It takes and returns values, does no I/O and reads no clock.
package journal

import (
	"slices"
	"time"

	"planbridge/mapping"
)

// Book is the journal of one pair, with all inputs of a decision about it.
type Book struct {
	*mapping.Journal
	Edits Edits // edits that events reported
	// Base is the last agreement of the sides.
	Base map[mapping.Attribute]mapping.Base
	// GitHub and Planning are the present values of the two sides, without unknown ones.
	GitHub, Planning mapping.View
	// Issue is GitHub's view as a whole; nil: nothing of it is new. Known is the newest updated_at
	// of the issue that was taken into account. Agreed is the newest one that showed only values
	// both sides had agreed on.
	Issue         *mapping.Issue
	Known, Agreed time.Time
	// SameRendering reports whether planning shows two texts as the same.
	SameRendering func(x, y string) bool
	// Merge merges two edits of one text.
	Merge func(base, x, y string) (merged string, clean bool)
	// Settle is how long after a write its event may come.
	Settle time.Duration
	Now    time.Time
}

// Overwritten is the value on GitHub that a write of ours replaced.
type Overwritten struct {
	Text string
	At   time.Time // by GitHub's clock; zero: not known
}

// Wait is a time of the next check.
type Wait struct {
	After time.Duration
	Why   string
}

// Due reports whether a write needs a check at once. Its outcome is not known, its echo is overdue,
// or GitHub's history is to be asked for it.
func (b Book) Due() bool {
	return slices.ContainsFunc(b.Pending, func(p mapping.Pending) bool { return !p.Answered || b.overdue(p) }) || slices.ContainsFunc(b.InFlight, b.toAskNow)
}

// Waits lists the times of the next checks. The echo of a write is overdue then, or a write that
// seemed lost cannot be under way any more.
func (b Book) Waits() (waits []Wait) {
	for _, p := range b.Pending {
		if !awaitsEcho(p) {
			continue
		}
		after := b.Settle - b.Now.Sub(p.At)
		if after <= 0 {
			after = b.Settle // GitHub could not be asked
		}
		waits = append(waits, Wait{after, "GitHub has not told of our write of the " + string(p.Attribute) + " yet: it is asked then"})
	}
	for _, p := range b.InFlight {
		if toAsk(p) {
			waits = append(waits, Wait{b.Settle - b.Now.Sub(p.At), "a write of the " + string(p.Attribute) + " that was given up may still be under way"})
		}
	}
	return waits
}

// awaitsEcho reports whether a write was answered, and its echo was not handled yet.
func awaitsEcho(p mapping.Pending) bool { return p.Answered && !p.Verified }

// writes are the records of all writes, in-flight ones first.
func writes(j *mapping.Journal) []mapping.Pending { return slices.Concat(j.InFlight, j.Pending) }

// overdue reports whether the echo of a write should have come by now.
func (b Book) overdue(p mapping.Pending) bool { return awaitsEcho(p) && b.Now.Sub(p.At) >= b.Settle }

// toAsk reports whether GitHub's history still has to be asked for a write that may be under way.
func toAsk(p mapping.Pending) bool {
	return !p.Asked && !p.Verified && p.Side == mapping.GitHub && p.Attribute.Spec().HasHistory()
}

// toAskNow reports whether a write cannot be under way any more, and GitHub's history still has to
// be asked for it.
func (b Book) toAskNow(p mapping.Pending) bool { return toAsk(p) && b.Now.Sub(p.At) >= b.Settle }

// EditedOnGitHub bounds when GitHub's value of an attribute was made. An event gives the second, as
// GitHub's times have whole seconds. Without an event, the value was made after the issue last
// showed only agreed values, and before its last update. A write of ours may have updated it in
// between. For a value that people are asked about (asking), only an event counts. The value has
// the form of [Edits.Bare].
func (b Book) EditedOnGitHub(a mapping.Attribute, value string, asking bool) mapping.Interval {
	if b.Issue == nil {
		return mapping.Interval{}
	}
	if at, told := b.Edits.ByOthers(a, value); told || asking {
		return at
	}
	return mapping.Interval{From: b.Agreed, To: b.Issue.UpdatedAt.Add(time.Second)}
}
