package journal

import (
	"slices"
	"time"

	"planbridge/mapping"
)

// Recent reports whether an item was changed, or first seen after its last claim, so recently that
// reads of it may lag. Where GitHub's clock is far from ours, the time of the change does not
// count.
func Recent(seen, changed, now time.Time) bool {
	return now.Sub(seen) < Doubt || now.Sub(changed).Abs() < Doubt
}

// Behind decides about reads of the issue that have been older than the known state for some time.
// They are believed after longer than anything of GitHub's lags. Until then the issue is read again
// after a while, and not before the least time that GitHub's replicas get.
func Behind(since, settle, least time.Duration) (wait time.Duration, believed bool) {
	most := max(Doubt, settle)
	if since >= most {
		return 0, true
	}
	return max(least, min(since/2, most-since)), false
}

// TakesBack reports whether a snapshot, by its view and its updated_at, may be from before a recent
// write of ours. It may show the value before the write, which nobody wrote since. Or it shows, for
// the same or an unknown second, another value than the write's, and no known edit made it from
// that. A person's edit of that kind counts a while later. The answer to a label does not tell when
// the issue was updated, so it may be newer than the known state. The base may appear again, unless
// an answer shows that it was replaced: a restored edit is not agreed on yet.
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
