package journal

import (
	"slices"

	"planbridge/mapping"
)

// Outcome is the outcome of a write whose answer was lost.
type Outcome struct {
	Happened bool
	// Base is the new base after it; nil: the base stays.
	Base *mapping.Base
	// Unbased: the base does not count from now on.
	Unbased bool
	Why     string // for the history; "" for no line
}

// Recovered is a write of unknown outcome, with its outcome.
type Recovered struct {
	mapping.Pending
	Outcome
}

// RecoverAll decides the outcome of each write of unknown outcome, and records it in the journal. A
// write to GitHub that happened awaits its echo from now on. A write that did not may still be
// under way. denied are the writes that GitHub's history lacks.
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

// Landed removes the in-flight writes to planning that cannot take effect any more from the
// journal. It returns those that may have taken effect, with their outcomes. The version of a write
// separates it from a person's edit.
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

// recover decides the outcome of one write of unknown outcome. A side may hold the pending value,
// or a person's edit built on it. It is then compared with that value, and not with the old base.
// Nobody built on a write that GitHub's history lacks (denied). A state has only three values, so
// that a person may have set the same one. Without an event of our own the base does not count
// then.
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
	if p.Old == nil && p.From == p.To { // for its marker alone: there is still no base
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

// happened reports whether the present value shows that a write of unknown outcome has happened.
func (b Book) happened(p mapping.Pending, now mapping.Versioned, denied bool) bool {
	a := p.Attribute
	return mapping.Same(a, now.Value, p.To) && !somebodyWrote(b.Edits, p) ||
		p.Side == mapping.Planning && a.Spec().Form == mapping.FormMarkdown && b.SameRendering(now.Value, p.To) ||
		!denied && b.builtOn(p, now)
}

// somebodyWrote reports whether an event shows that a person wrote to GitHub the value of a write
// of ours.
func somebodyWrote(e Edits, p mapping.Pending) bool {
	if p.Side != mapping.GitHub {
		return false
	}
	_, told := e.ByOthers(p.Attribute, p.To)
	return told
}

// undone reports whether a write of unknown outcome, or another one, was undone or replaced.
// Compared with the old base, somebody's change would not show.
func (b Book) undone(p mapping.Pending, now mapping.Versioned) bool {
	return WentBack(p, now) || otherWentBack(p, now, b.GitHub) || replaced(p, now)
}

// WentBack reports that planning has the value from before a write of unknown outcome, or the base
// before it, yet two versions later. That write, or a person, changed the value, and then a person
// changed it back. Compared with the old base the second change would not show.
func WentBack(p mapping.Pending, now mapping.Versioned) bool {
	return p.Side == mapping.Planning && p.Old != nil && now.Version >= p.Next.Version+2 &&
		(mapping.Same(p.Attribute, now.Value, p.From) || mapping.Same(p.Attribute, now.Value, p.Old.Planning))
}

// replaced reports that a side has neither the value of a write of unknown outcome nor the one
// before it. There is no history of this attribute, so that it is not known which of the two a
// person replaced. Compared with the old base, a change that is taken back later would not show.
// In planning one version more is a person's edit of the value before, as our write carried that
// one's version.
func replaced(p mapping.Pending, now mapping.Versioned) bool {
	mayHide := p.Side == mapping.GitHub || p.Old != nil && now.Version >= p.Next.Version+2
	return mayHide && !p.Attribute.Spec().HasHistory() && !mapping.Same(p.Attribute, now.Value, p.From)
}

// otherWentBack reports that GitHub is back at the old base, though a write of unknown outcome to
// planning was made from it. Planning is somebody's edit of either value. Compared with the old
// base only planning would have changed, and the edit that took GitHub back would be lost.
func otherWentBack(p mapping.Pending, now mapping.Versioned, github mapping.View) bool {
	g, ok := github[p.Attribute]
	return ok && p.Side == mapping.Planning && p.Old != nil && now.Version >= p.Next.Version+2 &&
		mapping.Same(p.Attribute, g.Value, p.Old.GitHub) && !mapping.Same(p.Attribute, g.Value, p.Next.GitHub)
}

// builtOn reports whether a value is a person's edit of the value that a lost write wrote. The
// value differs from that one and from the one before the write.
//
// Planning's version can exclude it, as our write carried the old version and could only be the
// first change after that. On GitHub the edit's own event shows the value it was made from. Where
// neither decides, only a text that contains everything that was written counts as an edit of it.
// Two other edits raise the version as much, and a wrong guess would do harm.
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
