package journal

import (
	"maps"
	"slices"

	"planbridge/mapping"
)

// Matches has, by the id of a write's record, the value on GitHub that the write replaced. A write
// that is missing may or may not have taken effect.
type Matches map[string]Overwritten

// Match finds the edits that our writes on record made, and adds the values that they replaced.
// Each edit belongs to one write only, and a consumed edit to no other.
func Match(j *mapping.Journal, e Edits, known Matches) Matches {
	found := Matches{}
	maps.Copy(found, known)
	for _, a := range mapping.AttributesWith((*mapping.AttrSpec).HasHistory) {
		records := slices.DeleteFunc(writes(j), func(p mapping.Pending) bool { return p.Attribute != a || p.Side != mapping.GitHub })
		if slices.ContainsFunc(records, found.open) {
			found.assign(records, unspent(j, e, a, found), e)
		}
	}
	return found
}

// open reports whether a write is still to be matched to an edit.
func (m Matches) open(p mapping.Pending) bool { return !m.has(p) && !p.Verified }

func (m Matches) has(p mapping.Pending) bool {
	_, ok := m[p.ID]
	return ok
}

// unspent lists the changes of an attribute that no write has been matched to.
func unspent(j *mapping.Journal, e Edits, a mapping.Attribute, known Matches) (changes []Change) {
	changes = e.Of(a)
	spent := slices.DeleteFunc(slices.Clone(j.Consumed), func(s mapping.ConsumedEdit) bool { return s.Attribute != a })
	for _, p := range writes(j) {
		if over, ok := known[p.ID]; ok && !p.Verified && p.Attribute == a {
			spent = append(spent, spentOn(p, over))
		}
	}
	for _, s := range spent {
		if i := slices.IndexFunc(changes, func(c Change) bool { return c.is(s) }); i >= 0 {
			changes = slices.Delete(changes, i, i+1)
		}
	}
	return changes
}

// assign matches records to changes. One value may have been written twice. A change from the value
// that a write read is taken first, then one from what edits made of that. The newest record, which is
// the last one, chooses first, as the fewest changes can belong to it.
func (m Matches) assign(records []mapping.Pending, changes []Change, e Edits) {
	for _, likely := range []func(p mapping.Pending, c Change) bool{
		func(p mapping.Pending, c Change) bool { return mapping.Same(p.Attribute, c.From, p.From) },
		func(p mapping.Pending, c Change) bool { return e.reach(p.Attribute, p.From, c.From) },
		func(mapping.Pending, Change) bool { return true },
	} {
		for _, p := range slices.Backward(records) {
			if !m.open(p) {
				continue
			}
			i := slices.IndexFunc(changes, func(c Change) bool { return matches(p, c) && likely(p, c) })
			if i >= 0 {
				m[p.ID] = Overwritten{changes[i].From, changes[i].At}
				changes = slices.Delete(changes, i, i+1)
			}
		}
	}
}

// matches reports whether a write of ours may have made a change.
func matches(p mapping.Pending, c Change) bool {
	return c.By.Perhaps() && !c.At.Before(p.After) && mapping.Same(p.Attribute, c.To, p.To)
}

// Unverified reports whether a write may be decided now: its outcome is not known, or an event may
// be its echo.
func Unverified(j *mapping.Journal, e Edits) bool {
	return slices.ContainsFunc(j.Pending, func(p mapping.Pending) bool {
		return !p.Answered || awaitsEcho(p) && slices.ContainsFunc(e.Of(p.Attribute), func(c Change) bool { return matches(p, c) })
	})
}

// spentOn is the edit that a write made, by the value that it replaced.
func spentOn(p mapping.Pending, over Overwritten) mapping.ConsumedEdit {
	a := p.Attribute
	return mapping.ConsumedEdit{Attribute: a, From: mapping.DigestValue(a, over.Text), To: mapping.DigestValue(a, p.To), At: over.At}
}

// is reports whether a change is the given consumed edit.
func (c Change) is(s mapping.ConsumedEdit) bool {
	return s.At.Equal(c.At) && s.From == mapping.DigestValue(s.Attribute, c.From) && s.To == mapping.DigestValue(s.Attribute, c.To)
}

// Unclear reports whether events do not tell which of our writes replaced which value, so that
// GitHub's history has to be asked. A write that may be under way may have happened before another
// one, which then replaced an unexpected value. Or an edit may be the echo of either write. rest
// are the certain matches.
func Unclear(j *mapping.Journal, a mapping.Attribute, known Matches) (rest Matches, unclear bool) {
	rest = maps.Clone(known)
	for _, p := range j.InFlight {
		if p.Side != mapping.GitHub || p.Attribute != a || p.Verified {
			continue
		}
		again := writtenAgain(j, p)
		switch {
		case again == nil:
			unclear = unclear || !known.has(p) && ranOverMore(j, a, known)
		case known.has(p) || known.has(*again):
			unclear = true
			delete(rest, p.ID)
			delete(rest, again.ID)
		}
	}
	return rest, unclear
}

// writtenAgain is the write on record with the same value as one that may be under way; nil: none.
func writtenAgain(j *mapping.Journal, late mapping.Pending) *mapping.Pending {
	i := slices.IndexFunc(j.Pending, func(p mapping.Pending) bool {
		return p.Side == late.Side && p.Attribute == late.Attribute && !p.Verified && mapping.Same(p.Attribute, p.To, late.To)
	})
	if i < 0 {
		return nil
	}
	return &j.Pending[i]
}

// ranOverMore reports whether a write of ours replaced a value other than the one it was made from.
// Another write that may be under way may have come in between.
func ranOverMore(j *mapping.Journal, a mapping.Attribute, known Matches) bool {
	return slices.ContainsFunc(writes(j), func(p mapping.Pending) bool {
		over, ok := known[p.ID]
		return ok && p.Attribute == a && !mapping.Same(a, over.Text, p.From)
	})
}

// Ours reports whether a recent write of ours wrote a value that GitHub shows.
func Ours(j *mapping.Journal, a mapping.Attribute, value string) bool {
	is := mapping.DigestValue(a, value)
	return slices.ContainsFunc(writes(j), func(p mapping.Pending) bool {
		return p.Side == mapping.GitHub && p.Attribute == a && mapping.Same(a, p.To, value)
	}) || slices.ContainsFunc(j.Written, func(o mapping.WriteRecord) bool { return o.Attribute == a && o.To == is })
}

// Overdue lists the writes whose echo should have come by now.
func (b Book) Overdue(known Matches) []mapping.Pending {
	return filter(b.Pending, func(p mapping.Pending) bool { return b.overdue(p) && !known.has(p) })
}

// Replaced lists the writes of unknown outcome where GitHub shows neither their value nor the one
// before. They may have happened, and run over an edit, before somebody replaced their value.
func (b Book) Replaced(known Matches) []mapping.Pending {
	return filter(b.Pending, func(p mapping.Pending) bool {
		if p.Answered || p.Side != mapping.GitHub || !p.Attribute.Spec().HasHistory() || known.has(p) {
			return false
		}
		now := b.GitHub[p.Attribute].Value
		return !mapping.Same(p.Attribute, now, p.To) && !mapping.Same(p.Attribute, now, p.From)
	})
}

// MayHaveHappened lists the writes of unknown outcome of a state or an estimate that GitHub shows as
// it was before. The base is still the one that they were made from. Where one happened, a person has
// taken it back since.
func (b Book) MayHaveHappened() []mapping.Pending {
	return filter(writes(b.Journal), func(p mapping.Pending) bool {
		now, known := b.GitHub[p.Attribute]
		base, based := b.Base[p.Attribute]
		return p.Side == mapping.GitHub && !p.Answered && !p.Asked && !p.Attribute.Spec().HasHistory() && known && based && p.Old != nil && base == *p.Old && takenBack(p, now.Value)
	})
}

// takenBack reports whether a value takes a write back: it is the one before, or an issue that was
// closed is open, or the other way round.
func takenBack(p mapping.Pending, now string) bool {
	done := func(value string) bool {
		return p.Attribute.Spec().Carrier == mapping.CarrierState && value == mapping.StateDone
	}
	return mapping.Same(p.Attribute, now, p.From) || done(p.From) != done(p.To) && done(now) == done(p.From)
}

// filter lists the records that match is.
func filter(records []mapping.Pending, is func(mapping.Pending) bool) (list []mapping.Pending) {
	for _, p := range records {
		if is(p) {
			list = append(list, p)
		}
	}
	return list
}
