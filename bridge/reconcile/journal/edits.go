package journal

import (
	"slices"
	"time"

	"planbridge/mapping"
)

// Edits are edits of one issue, oldest first, as events or GitHub's history reported them.
type Edits struct {
	All []mapping.IssueEvent
	// Authorship returns how certain it is that an account is the bridge's own.
	Authorship func(login string) mapping.Authorship
	// Bare returns a text of GitHub's without the bridge's additions.
	Bare func(text string) string
}

// Change is the effect of an edit on one attribute.
type Change struct {
	From, To string
	At       time.Time // by GitHub's clock, in whole seconds
	Sender   string    // the account, and whether it is the bridge's own
	By       mapping.Authorship
	edit     int // the index of its edit
}

// Of returns the changes of an attribute.
func (e Edits) Of(a mapping.Attribute) (changes []Change) {
	edited := a.Spec().Edited
	if edited == nil {
		return nil
	}
	for i := range e.All {
		edit := &e.All[i]
		if from, to := edited(edit); from != nil {
			changes = append(changes, Change{e.Bare(*from), e.Bare(to), edit.At, edit.Sender, e.Authorship(edit.Sender), i})
		}
	}
	return changes
}

// Others counts the edits of an attribute that somebody else made.
func (e Edits) Others(a mapping.Attribute) (n int) {
	for _, c := range e.Of(a) {
		if !c.By.Perhaps() {
			n++
		}
	}
	return n
}

// ByOthers is when somebody else last wrote a value; false: no edit shows it. An edit outside the
// value, such as one of a box in the body's list, did not write it.
func (e Edits) ByOthers(a mapping.Attribute, value string) (at mapping.Interval, told bool) {
	for _, c := range e.Of(a) {
		if !c.By.Perhaps() && mapping.Same(a, c.To, value) && !mapping.Same(a, c.From, value) {
			at, told = mapping.Interval{From: c.At, To: c.At.Add(time.Second)}, true
		}
	}
	return at, told
}

// Leave reports whether an edit was made from a value.
func (e Edits) Leave(a mapping.Attribute, value string) bool {
	return slices.ContainsFunc(e.Of(a), func(c Change) bool { return mapping.Same(a, c.From, value) })
}

// Tell reports whether an edit changed one value into another.
func (e Edits) Tell(a mapping.Attribute, from, to string) bool {
	return slices.ContainsFunc(e.Of(a), func(c Change) bool { return mapping.Same(a, c.To, to) && mapping.Same(a, c.From, from) })
}

// Lead reports whether a chain of edits leads from one value to another. Each edit of the chain
// starts from the result of the one before. Values are given by their digests.
func (e Edits) Lead(a mapping.Attribute, from, to string) bool {
	type step struct{ from, to string }
	var left []step
	for _, c := range e.Of(a) {
		left = append(left, step{mapping.DigestValue(a, c.From), mapping.DigestValue(a, c.To)})
	}
	for {
		i := slices.IndexFunc(left, func(s step) bool { return s.from == from })
		if i < 0 {
			return from == to
		}
		from = left[i].to
		left = slices.Delete(left, i, i+1)
	}
}

// reach reports whether edits led from one value to another, whatever came then.
func (e Edits) reach(a mapping.Attribute, from, to string) bool {
	reached := []string{from}
	knows := func(value string) bool {
		return slices.ContainsFunc(reached, func(r string) bool { return mapping.Same(a, r, value) })
	}
	for i := 0; i < len(reached) && !knows(to); i++ {
		for _, c := range e.Of(a) {
			if mapping.Same(a, c.From, reached[i]) && !knows(c.To) {
				reached = append(reached, c.To)
			}
		}
	}
	return knows(to)
}

// After returns the edits after the last one that started from a value; all, where none did.
func (e Edits) After(a mapping.Attribute, value string) Edits {
	after := e
	for _, c := range e.Of(a) {
		if mapping.Same(a, c.To, value) {
			after.All = e.All[c.edit+1:]
		}
	}
	return after
}
