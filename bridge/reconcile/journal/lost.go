package journal

import (
	"slices"
	"time"

	"planbridge/mapping"
)

// LostUpdate is a person's edit that a write of ours ran over. GitHub has no lock, and the edit
// came between our read and our write.
type LostUpdate struct {
	Write mapping.Pending
	Text  string    // the person's text
	By    time.Time // when it was run over, by GitHub's clock; zero: not known
}

// Restored is the text that GitHub is to have again for an edit that was run over. It is merged
// with the present text, where that is allowed; clean: nothing of either is lost.
func (b Book) Restored(l LostUpdate, mayMerge bool) (text string, clean bool) {
	a := l.Write.Attribute
	now := b.GitHub[a].Value
	if mapping.Same(a, now, l.Text) || !mayMerge || !a.Spec().Mergeable() {
		return l.Text, mapping.Same(a, now, l.Text)
	}
	return b.Merge(l.Write.From, now, l.Text)
}

// Forgotten finds edits of people that a write of ours replaced within [Doubt], so that it may not
// have known them. It skips those that a later value contains. While the bridge's account is
// unknown, a write of any other account may be ours. merge merges two edits of a text.
func (e Edits) Forgotten(a mapping.Attribute, merge func(base, x, y string) (string, bool)) (lost []LostUpdate) {
	changes := e.Of(a)
	for i := 1; i < len(changes); i++ {
		edit, write := changes[i-1], changes[i]
		switch {
		case !write.By.Perhaps() || edit.By.Ours() || edit.Sender == write.Sender:
		case !mapping.Same(a, edit.To, write.From) || write.At.Sub(edit.At) > Doubt:
		case slices.ContainsFunc(changes[i:], func(c Change) bool { return c.holds(a, edit, merge) }):
		default:
			lost = append(lost, LostUpdate{Write: mapping.Pending{Attribute: a, From: write.From, To: write.To}, Text: edit.To, By: write.At})
		}
	}
	return lost
}

// holds reports whether the result of a change contains everything that an edit had changed.
func (c Change) holds(a mapping.Attribute, edit Change, merge func(base, x, y string) (string, bool)) bool {
	if !a.Spec().Mergeable() {
		return mapping.Same(a, c.To, edit.To)
	}
	both, clean := merge(edit.From, c.To, edit.To)
	return clean && mapping.Same(a, both, c.To)
}

// Lost reports whether a value that a write of ours replaced is lost. It was the base, or no other
// write of ours wrote it.
func (b Book) Lost(p mapping.Pending, value string, known Matches) bool {
	return mapping.Same(p.Attribute, value, b.Base[p.Attribute].GitHub) || !wroteOurselves(b.Journal, p, value, known)
}

// wroteOurselves reports whether another write of ours, which is known to have happened, wrote a
// value that a write of ours replaced. A write that restored an edit does not count, as its value
// is lost when replaced.
func wroteOurselves(j *mapping.Journal, p mapping.Pending, value string, known Matches) bool {
	a, is := p.Attribute, mapping.DigestValue(p.Attribute, value)
	return slices.ContainsFunc(writes(j), func(o mapping.Pending) bool {
		return o.ID != p.ID && (known.has(o) || o.Answered) && !o.Restores && o.Side == mapping.GitHub && o.Attribute == a && mapping.Same(a, value, o.To)
	}) || slices.ContainsFunc(j.Consumed, func(s mapping.ConsumedEdit) bool { return s.Attribute == a && s.To == is && !s.Restores })
}

// EditedBefore bounds the edits of both sides before a write of ours that ran over an edit of
// GitHub.
func (e Edits) EditedBefore(l LostUpdate) map[mapping.Side]mapping.Interval {
	github, told := e.ByOthers(l.Write.Attribute, l.Text)
	if !told && !l.By.IsZero() {
		github = mapping.Interval{From: l.Write.After, To: l.By.Add(time.Second)}
	}
	return map[mapping.Side]mapping.Interval{mapping.GitHub: github, mapping.Planning: l.Write.Edited}
}
