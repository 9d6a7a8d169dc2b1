package journal

import (
	"slices"

	"planbridge/mapping"
)

// Look is the next step to learn whether an in-flight write took effect.
type Look int

// The possible next steps.
const (
	// LookLater: nothing says yet that it took effect.
	LookLater Look = iota
	// LookAsk: ask GitHub's history.
	LookAsk
	// LookLanded: it took effect, and replaced the base.
	LookLanded
	// LookUnbased: it took effect, or a person set the same value, so that the base does not count.
	LookUnbased
)

// Look decides about an in-flight write that no event reported. GitHub shows the value of the
// write, or a text that no event explains. Where the base is the value of the write, any update of
// the issue may be that write. GitHub's times have whole seconds, so its history is asked once in
// any case. A value without a known author counts as somebody's edit.
func (b Book) Look(p mapping.Pending, known Matches) Look {
	a := p.Attribute
	base, based := b.Base[a]
	if !based || known.has(p) || p.Verified || p.Side != mapping.GitHub {
		return LookLater
	}
	agreed := mapping.Same(a, p.To, base.GitHub)
	switch asks := b.toAskNow(p); {
	case agreed && !asks && (writtenAgain(b.Journal, p) != nil || b.Issue == nil || !b.Issue.UpdatedAt.After(b.Known)):
		return LookLater // nothing happened, or Unclear separates it from the awaited echo
	case a.Spec().HasHistory() && (asks || b.shows(p) || b.unexplained(a)):
		return LookAsk
	case a.Spec().HasHistory(), agreed, !b.shows(p):
		return LookLater
	case b.Edits.Authorship(b.Issue.Editor).Ours():
		return LookLanded
	}
	return LookUnbased
}

// Asked records that GitHub was asked for writes in flight. Those that may be under way are asked for
// again.
func (b Book) Asked(is func(mapping.Pending) bool) {
	for i := range b.InFlight {
		if p := &b.InFlight[i]; p.Side == mapping.GitHub && is(*p) && b.Now.Sub(p.At) >= b.Settle {
			p.Asked = true
		}
	}
}

// shows reports whether GitHub shows the value of an in-flight write, and no write on record
// explains it.
func (b Book) shows(p mapping.Pending) bool {
	now, known := b.GitHub[p.Attribute]
	return b.Issue != nil && known && mapping.Same(p.Attribute, now.Value, p.To) && !b.explained(p.Attribute, p.To)
}

// unexplained reports whether GitHub shows a value that is neither the base nor of a write on
// record. No event says that it was made from the base.
func (b Book) unexplained(a mapping.Attribute) bool {
	now, known := b.GitHub[a]
	base := b.Base[a].GitHub
	return b.Issue != nil && known && !mapping.Same(a, now.Value, base) && !b.explained(a, now.Value) && !b.Edits.Tell(a, base, now.Value)
}

// explained reports whether a write to GitHub on record wrote a value, and the base is still that
// write's.
func (b Book) explained(a mapping.Attribute, value string) bool {
	return slices.ContainsFunc(b.Pending, func(o mapping.Pending) bool {
		return o.Side == mapping.GitHub && o.Attribute == a && mapping.Same(a, o.To, value) &&
			mapping.Same(a, o.Next.GitHub, b.Base[a].GitHub)
	})
}

// Repair is the way to handle the value that an in-flight write replaced when it took effect after
// all.
type Repair int

// The possible repairs.
const (
	// RepairNothing: both sides have it by now, or GitHub has it again.
	RepairNothing Repair = iota
	// RepairLost: the edit that the write ran over is lost, and is restored.
	RepairLost
	// RepairUnbased: a person edited the write's value without seeing the base, so that the base
	// does not count.
	RepairUnbased
	// RepairRewrite: the replaced value is written again.
	RepairRewrite
)

// Repair decides about the value that an in-flight write replaced when it took effect. The writes
// that were in flight at the first check are late. The result edited says that a person had written
// the replaced value.
func (b Book) Repair(p mapping.Pending, over string, late []mapping.Pending) (do Repair, edited bool) {
	a := p.Attribute
	base, now := b.Base[a].GitHub, b.GitHub[a].Value
	edited = !mapping.Same(a, over, base) && !mapping.Same(a, over, p.From)
	planned, known := b.Planning[a]
	stands := slices.ContainsFunc(late, func(o mapping.Pending) bool { // the value of a late write, and not of the one that repeated it
		return o.Attribute == a && mapping.Same(a, now, o.To) && (writtenAgain(b.Journal, o) == nil || o.ID == p.ID && !edited)
	})
	switch {
	case p.Restores, // it seemed lost, but was not repeated
		!stands && (edited || a.Spec().Mergeable()): // somebody has edited a text on top of it
		return RepairLost, edited
	case !stands && a.Spec().HasHistory() && !mapping.Same(a, now, over):
		return RepairUnbased, edited
	case !stands, mapping.Same(a, now, over):
		return RepairNothing, edited
	case !edited && (mapping.Same(a, now, base) || known && mapping.Equal(a, now, planned.Value)):
		return RepairNothing, edited // both sides have it by now
	}
	return RepairRewrite, edited
}
