package journal

import (
	"slices"

	"planbridge/mapping"
)

// Look is what to do about a write that was given up, to learn whether it took effect.
type Look int

// What may be to do.
const (
	// LookLater: nothing that is known says that it took effect.
	LookLater Look = iota
	// LookAsk: GitHub's memory is to be asked.
	LookAsk
	// LookLanded: it took effect, over what was agreed on.
	LookLanded
	// LookUnbased: it took effect, or a person set the same: the sides are as at first sight.
	LookUnbased
)

// Look decides what to do about a write that was given up, of which no event told: GitHub
// shows what it wrote, or a text that no event explains. Where what was agreed on is what it
// wrote, anything that happened to the issue may be that; GitHub's times have whole seconds,
// so that its memory is asked once in any case. Where GitHub does not tell who wrote it, it
// counts as somebody's edit.
func (b Book) Look(p mapping.Pending, known Matches) Look {
	a := p.Attribute
	base, based := b.Base[a]
	if !based || known.has(p) || p.Verified || p.Side != mapping.GitHub {
		return LookLater
	}
	agreed := mapping.Same(a, p.To, base.GitHub)
	switch asks := b.toAskNow(p); {
	case agreed && !asks && (writtenAgain(b.Journal, p) != nil || b.Issue == nil || !b.Issue.UpdatedAt.After(b.Known)):
		return LookLater // nothing happened, or it is told apart from the echo that is awaited (Unclear)
	case a.Spec().HasHistory() && (asks || b.shows(p) || b.unexplained(a)):
		return LookAsk
	case a.Spec().HasHistory(), agreed, !b.shows(p):
		return LookLater
	case b.Edits.Authorship(b.Issue.Editor).Ours():
		return LookLanded
	}
	return LookUnbased
}

// Asked notes that GitHub's memory was asked for the writes of an attribute.
func (b Book) Asked(a mapping.Attribute) {
	for i := range b.InFlight {
		if p := &b.InFlight[i]; p.Attribute == a && b.toAskNow(*p) {
			p.Asked = true
		}
	}
}

// shows reports whether GitHub shows what a write that was given up wrote, and no write on
// record explains it.
func (b Book) shows(p mapping.Pending) bool {
	now, known := b.GitHub[p.Attribute]
	return b.Issue != nil && known && mapping.Same(p.Attribute, now.Value, p.To) && !b.explained(p.Attribute, p.To)
}

// unexplained reports whether GitHub shows another value than what was agreed on or written
// by a write on record, and no event tells that it was made from what was agreed on.
func (b Book) unexplained(a mapping.Attribute) bool {
	now, known := b.GitHub[a]
	base := b.Base[a].GitHub
	return b.Issue != nil && known && !mapping.Same(a, now.Value, base) && !b.explained(a, now.Value) && !b.Edits.Tell(a, base, now.Value)
}

// explained reports whether a write to GitHub that is not forgotten yet wrote a value, and
// nothing was agreed on since.
func (b Book) explained(a mapping.Attribute, value string) bool {
	return slices.ContainsFunc(b.Pending, func(o mapping.Pending) bool {
		return o.Side == mapping.GitHub && o.Attribute == a && mapping.Same(a, o.To, value) &&
			mapping.Same(a, o.Next.GitHub, b.Base[a].GitHub)
	})
}

// Repair is what to do about what a write that was given up ran over when it took effect
// after all.
type Repair int

// What may be to do.
const (
	// RepairNothing: it is what both sides hold by now, or it stands there again.
	RepairNothing Repair = iota
	// RepairLost: the edit that it ran over is lost, and is to be brought back as such.
	RepairLost
	// RepairUnbased: who edited its value never saw what was agreed on: the sides are as at
	// first sight.
	RepairUnbased
	// RepairRewrite: what stood there before is written again.
	RepairRewrite
)

// Repair decides what to do about what a write ran over when it took effect after it had
// been given up. late are all writes that had been given up when this was asked first. edited:
// a person had written what it ran over.
func (b Book) Repair(p mapping.Pending, over string, late []mapping.Pending) (do Repair, edited bool) {
	a := p.Attribute
	base, now := b.Base[a].GitHub, b.GitHub[a].Value
	edited = !mapping.Same(a, over, base) && !mapping.Same(a, over, p.From)
	planned, known := b.Planning[a]
	stands := slices.ContainsFunc(late, func(o mapping.Pending) bool { // what came late, and not what was written in its stead
		return o.Attribute == a && mapping.Same(a, now, o.To) && (writtenAgain(b.Journal, o) == nil || o.ID == p.ID && !edited)
	})
	switch {
	case p.Restores, // it seemed lost, but was not made again
		!stands && (edited || a.Spec().Mergeable()): // somebody has edited a text on top of it
		return RepairLost, edited
	case !stands && a.Spec().HasHistory() && !mapping.Same(a, now, over):
		return RepairUnbased, edited
	case !stands, mapping.Same(a, now, over):
		return RepairNothing, edited
	case !edited && (mapping.Same(a, now, base) || known && mapping.Equal(a, now, planned.Value)):
		return RepairNothing, edited // by now it is what both sides hold
	}
	return RepairRewrite, edited
}
