package journal

import (
	"slices"
	"time"

	"planbridge/mapping"
)

// Recent reports whether an item was changed, or first seen since it was last worked, so
// short a while ago that reads of it may lag. A clock of GitHub's that is far from ours does
// not tell the former.
func Recent(seen, changed, now time.Time) bool {
	return now.Sub(seen) < Doubt || now.Sub(changed).Abs() < Doubt
}

// Behind decides about reads of the issue that have been older than what is known for some
// time. They are believed after longer than anything of GitHub's lags; until then the issue
// is read again after a while, and not before the least time that GitHub's replicas are given.
func Behind(since, settle, least time.Duration) (wait time.Duration, believed bool) {
	most := max(Doubt, settle)
	if since >= most {
		return 0, true
	}
	return max(least, min(since/2, most-since)), false
}

// TakesBack reports whether a snapshot, by its view and its updated_at, may be from before a
// recent write of ours: it shows what stood there before the write and was not written since.
// Or, of the same second or where that is not known, it shows something else than the write
// wrote and no edit is known to have made of it. A person who did that is believed a while
// later. The answer to a label does not tell when the issue was updated, so it may be newer
// than all that is known. What was agreed on may stand there again, but not where an answer
// tells that it was written over: an edit that was brought back is not agreed on yet.
func (b Book) TakesBack(view mapping.View, updated time.Time) bool {
	for i, o := range b.Written {
		if b.Now.Sub(o.At) >= Doubt {
			continue
		}
		a, value := o.Attribute, view[o.Attribute].Value
		is, agreed := mapping.DigestValue(a, value), mapping.Same(a, value, b.Base[a].GitHub)
		since := b.Written[i+1:]
		before := is == o.From && !slices.ContainsFunc(since, func(n mapping.WriteRecord) bool { return n.Attribute == a && n.To == is })
		newest := o.To != "" && !slices.ContainsFunc(since, func(n mapping.WriteRecord) bool { return n.Attribute == a && n.To != "" })
		untimed := o.UpdatedAt.IsZero()
		switch {
		case before && (untimed && !agreed || !updated.After(o.UpdatedAt)),
			newest && !agreed && (untimed || updated.Equal(o.UpdatedAt)) && !b.Edits.Lead(a, o.To, is):
			return true
		}
	}
	return false
}
