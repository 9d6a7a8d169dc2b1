// Package journal decides what edits that were seen on GitHub say about the bridge's own
// writes: which edit each write made, what it ran over, and which writes may still take
// effect. It takes values and returns values: it does no I/O and reads no clock.
package journal

import (
	"slices"
	"time"

	"planbridge/mapping"
)

// Book is the journal of one pair, with all that a decision about it looks at.
type Book struct {
	*mapping.Journal
	Edits Edits // those that events told of
	// Base is what the sides agreed on.
	Base map[mapping.Attribute]mapping.Base
	// GitHub and Planning are what stands on the two sides. What is not known is missing.
	GitHub, Planning mapping.View
	// Issue is GitHub's view as a whole; nil: nothing of it is new. Known is the updated_at
	// up to which the issue was taken into account, Agreed the one up to which it showed
	// nothing but what both sides had agreed on.
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

// Overwritten is what stood on GitHub when a write of ours took effect.
type Overwritten struct {
	Text string
	At   time.Time // by GitHub's clock; zero: not known
}

// LostUpdate is a person's edit that a write of ours ran over: GitHub has no lock, and the
// edit came between our read and our write.
type LostUpdate struct {
	Write mapping.Pending
	Text  string    // what the person had written
	By    time.Time // when it was run over, by GitHub's clock; zero: not known
}

// Restored is what is to stand on GitHub again for an edit that was run over. It is merged with
// what stands there now, where it may be; clean: nothing of either is lost.
func (b Book) Restored(l LostUpdate, mayMerge bool) (text string, clean bool) {
	a := l.Write.Attribute
	now := b.GitHub[a].Value
	if mapping.Same(a, now, l.Text) || !mayMerge || !a.Spec().Mergeable() {
		return l.Text, mapping.Same(a, now, l.Text)
	}
	return b.Merge(l.Write.From, now, l.Text)
}

// Wait is a time to look again.
type Wait struct {
	After time.Duration
	Why   string
}

// Unverified reports whether something is to be learnt of a write: its outcome is not
// known, or an event may be its echo.
func Unverified(j *mapping.Journal, e Edits) bool {
	return slices.ContainsFunc(j.Pending, func(p mapping.Pending) bool {
		if awaitsEcho(p) {
			for _, c := range e.Of(p.Attribute) {
				if matches(p, c) {
					return true
				}
			}
		}
		return !p.Answered
	})
}

// Due reports whether something is to be done about a write at once: its outcome is not
// known, its echo is overdue, or GitHub's memory is to be asked for it.
func (b Book) Due() bool {
	return slices.ContainsFunc(b.Pending, func(p mapping.Pending) bool { return !p.Answered || b.overdue(p) }) || slices.ContainsFunc(b.InFlight, b.toAskNow)
}

// Waits lists when to look again: the echo of a write is overdue then, or a write that
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

// overdue reports whether the echo of a write should have come by now.
func (b Book) overdue(p mapping.Pending) bool { return awaitsEcho(p) && b.Now.Sub(p.At) >= b.Settle }

// toAsk reports whether GitHub's memory is yet to be asked for a write that may be under way.
func toAsk(p mapping.Pending) bool {
	return !p.Asked && !p.Verified && p.Side == mapping.GitHub && p.Attribute.Spec().HasHistory()
}

// toAskNow reports whether a write cannot be under way any more, and GitHub's memory is yet
// to be asked for it.
func (b Book) toAskNow(p mapping.Pending) bool { return toAsk(p) && b.Now.Sub(p.At) >= b.Settle }

// EditedOnGitHub bounds when GitHub's value of an attribute was made. An event tells the
// second: GitHub's stamps leave out what is less. Where none tells of this value, it was
// made since the issue last showed nothing but what is agreed, and until it was last
// updated. A write of ours may have updated it between. Of a value that people are asked
// about (asking) only an event tells. The value is one as [Edits.Bare] leaves it.
func (b Book) EditedOnGitHub(a mapping.Attribute, value string, asking bool) mapping.Interval {
	if b.Issue == nil {
		return mapping.Interval{}
	}
	if at, told := b.Edits.ByOthers(a, value); told || asking {
		return at
	}
	return mapping.Interval{From: b.Agreed, To: b.Issue.UpdatedAt.Add(time.Second)}
}

// EditedInPlanning bounds when planning's value of an attribute was made. The polls tell of
// the values that they saw (polled). Of the state they tell by the counters of all of the
// card's tasks: only where these moved by one step since known ones is that step the state's.
func EditedInPlanning(a mapping.Attribute, card *mapping.Card, polled, now mapping.View, counters int64) mapping.Interval {
	seen, told := polled[a]
	switch {
	case card == nil, a.Spec().Tracked && card.CountersVersion > counters+1:
		return mapping.Interval{}
	case !a.Spec().Tracked && (!told || seen.Version != now[a].Version):
		return mapping.Interval{}
	}
	return card.Edited(a)
}

// EditedBefore is when the sides were edited that met in a write of ours, which ran over an
// edit of GitHub.
func (e Edits) EditedBefore(l LostUpdate) map[mapping.Side]mapping.Interval {
	github, told := e.ByOthers(l.Write.Attribute, l.Text)
	if !told && !l.By.IsZero() {
		github = mapping.Interval{From: l.Write.After, To: l.By.Add(time.Second)}
	}
	return map[mapping.Side]mapping.Interval{mapping.GitHub: github, mapping.Planning: l.Write.Edited}
}
