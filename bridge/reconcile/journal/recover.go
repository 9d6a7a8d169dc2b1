package journal

import (
	"slices"

	"planbridge/mapping"
)

// Outcome is what became of a write whose answer was lost.
type Outcome struct {
	Happened bool
	// Base is what the sides agree on by it; nil: what they agreed on stays.
	Base *mapping.Base
	// Unbased: the sides are from now on as at first sight.
	Unbased bool
	Why     string // for the history; "" where that is not worth a line
}

// Recovered is a write of unknown outcome with what became of it.
type Recovered struct {
	mapping.Pending
	Outcome
}

// RecoverAll decides what became of each write of unknown outcome, and takes that into the
// journal. A write to GitHub that happened is from now on one whose echo is awaited; one
// that did not may still be under way. denied are those of which GitHub remembers nothing.
func (b Book) RecoverAll(known Matches, denied map[string]bool) (all []Recovered) {
	var kept []mapping.Pending
	for _, p := range b.Pending {
		if p.Answered {
			kept = append(kept, p)
			continue
		}
		out := b.recover(p, known.has(p), denied[p.ID])
		all = append(all, Recovered{p, out})
		if p.Side == mapping.GitHub && out.Base != nil {
			made := WroteFrom(p.Attribute, p.From, b.Now)
			if known.has(p) {
				made.To = mapping.DigestValue(p.Attribute, p.To)
			}
			Wrote(b.Journal, made, b.Now)
		}
		switch {
		case !out.Happened:
			InFlight(b.Journal, p)
		case p.Side == mapping.GitHub && p.Attribute.Spec().HasHistory():
			MadeAgain(b.Journal, p.Attribute)
			p.Answered, p.At = true, b.Now.UTC()
			kept = append(kept, p)
		}
	}
	b.Pending = kept
	return all
}

// Landed takes the writes to planning off the journal that had been given up and cannot take
// effect any more, and returns those that may have done so, with what became of them. The
// version that a write carried tells it from a person's edit.
func (b Book) Landed() (landed []Recovered) {
	version := map[mapping.Attribute]int64{}
	for a, base := range b.Base {
		version[a] = base.Version
	}
	past := func(p mapping.Pending) bool {
		now, known := b.Planning[p.Attribute]
		return p.Side == mapping.Planning && known && now.Version > p.Next.Version
	}
	for _, p := range b.InFlight {
		a, now := p.Attribute, b.Planning[p.Attribute]
		if !past(p) || now.Version != p.Next.Version+1 || now.Version <= version[a] {
			continue
		}
		out := b.recover(p, false, false)
		landed = append(landed, Recovered{p, out})
		if out.Base != nil {
			version[a] = out.Base.Version
		}
	}
	b.InFlight = slices.DeleteFunc(b.InFlight, past)
	return landed
}

// recover decides what became of one write of unknown outcome. A side that holds the pending
// value, or a person's edit built on it, is from now on compared with that value and not
// with the old base. What GitHub, when asked, denies (denied) was built on by nobody. A state
// has but three values, so that a person may have set the same: without an event of our own
// the two sides are as at first sight.
func (b Book) recover(p mapping.Pending, echoed, denied bool) Outcome {
	a, view := p.Attribute, b.Planning
	if p.Side == mapping.GitHub {
		view = b.GitHub
	}
	now, known := view[a]
	switch {
	case !known:
		return Outcome{Happened: echoed}
	case !echoed && !b.happened(p, now, denied):
		if b.undone(p, now) {
			return Outcome{Unbased: true, Why: "a write whose answer was lost, or another one, was undone or replaced"}
		}
		return Outcome{}
	case !echoed && a.Spec().Form == mapping.FormWord && (p.Side == mapping.Planning || !b.Edits.Authorship(b.Issue.Editor).Ours()):
		return Outcome{Unbased: true, Why: "a write whose answer was lost had happened, or a person did the same"}
	}
	if p.Old == nil && p.From == p.To { // for its marker alone: they agree on as little as before
		return Outcome{Happened: true}
	}
	base := p.Next
	if p.Side == mapping.Planning && base.Planning == p.To {
		// A later version is a person's: a PUT that carried it would overwrite the edit unseen.
		base.Version = min(now.Version, p.Next.Version+1)
		if mapping.Same(a, now.Value, p.To) || b.SameRendering(now.Value, p.To) {
			base.Planning, base.Version = now.Value, now.Version
		}
	}
	return Outcome{Happened: true, Base: &base, Why: "a write whose answer was lost had happened"}
}

// happened reports whether a write of unknown outcome has happened, as far as what stands
// now tells.
func (b Book) happened(p mapping.Pending, now mapping.Versioned, denied bool) bool {
	a := p.Attribute
	return mapping.Same(a, now.Value, p.To) && !somebodyWrote(b.Edits, p) ||
		p.Side == mapping.Planning && a.Spec().Form == mapping.FormMarkdown && b.SameRendering(now.Value, p.To) ||
		!denied && b.builtOn(p, now)
}

// somebodyWrote reports whether an event tells that a person wrote to GitHub what a write of
// ours would have.
func somebodyWrote(e Edits, p mapping.Pending) bool {
	if p.Side != mapping.GitHub {
		return false
	}
	_, told := e.ByOthers(p.Attribute, p.To)
	return told
}

// undone reports whether a write of unknown outcome, or another one, was undone or replaced:
// compared with the old base somebody's change would not be one.
func (b Book) undone(p mapping.Pending, now mapping.Versioned) bool {
	return WentBack(p, now) || otherWentBack(p, now, b.GitHub) || replaced(p, now)
}

// WentBack reports that planning holds what it held, or what was agreed on, before a write
// of unknown outcome, yet two versions later: that write, or a person, changed it, and then a
// person changed it back. Compared with the old base that would be no change.
func WentBack(p mapping.Pending, now mapping.Versioned) bool {
	return p.Side == mapping.Planning && p.Old != nil && now.Version >= p.Next.Version+2 &&
		(mapping.Same(p.Attribute, now.Value, p.From) || mapping.Same(p.Attribute, now.Value, p.Old.Planning))
}

// replaced reports that GitHub, of which no memory of this attribute can be asked, holds
// neither what a write of unknown outcome wrote nor what stood there before: whether a person
// replaced the one or the other is not known. Compared with the old base, planning would not
// have changed once its change was taken back.
func replaced(p mapping.Pending, now mapping.Versioned) bool {
	return p.Side == mapping.GitHub && !p.Attribute.Spec().HasHistory() && !mapping.Same(p.Attribute, now.Value, p.From)
}

// otherWentBack reports that GitHub, from which a write of unknown outcome to planning was
// made, is again as it was agreed on before, and planning is somebody's edit of either.
// Compared with the old base only planning would have changed, and who took the edit on
// GitHub back would not be heard.
func otherWentBack(p mapping.Pending, now mapping.Versioned, github mapping.View) bool {
	g, ok := github[p.Attribute]
	return ok && p.Side == mapping.Planning && p.Old != nil && now.Version >= p.Next.Version+2 &&
		mapping.Same(p.Attribute, g.Value, p.Old.GitHub) && !mapping.Same(p.Attribute, g.Value, p.Next.GitHub)
}

// builtOn reports whether a value that is neither what stood there before a lost write nor
// what was written is a person's edit of what was written.
//
// Planning's version can tell that it is not: our write carried the old version, so it
// happened only as the first change after it. On GitHub the edit's own event tells what it
// was made from. Where neither does, only a text that holds all that was written is taken for
// an edit of it: two other edits raise the version as much, and what they are taken for must
// not be wrong.
func (b Book) builtOn(p mapping.Pending, now mapping.Versioned) bool {
	a := p.Attribute
	late := func(o mapping.Pending) bool {
		return o.Side == p.Side && o.Attribute == a && mapping.Same(a, now.Value, o.To)
	}
	switch {
	case mapping.Same(a, now.Value, p.From), slices.ContainsFunc(b.InFlight, late):
		return false
	case p.Side == mapping.Planning && (p.Old == nil || now.Version < p.Next.Version+2):
		return false
	case p.Side == mapping.GitHub:
		for _, c := range b.Edits.Of(a) {
			if !c.By.Ours() && mapping.Same(a, c.To, now.Value) {
				return mapping.Same(a, c.From, p.To)
			}
		}
	}
	if !a.Spec().Mergeable() {
		return false
	}
	both, clean := b.Merge(p.From, p.To, now.Value)
	return clean && mapping.Same(a, both, now.Value)
}
