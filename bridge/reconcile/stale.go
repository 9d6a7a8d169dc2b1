package reconcile

import (
	"maps"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

const (
	// doubt is how long a read that may lag is not believed: longer than
	// GitHub's replicas do.
	doubt = 10 * time.Second
	// staleWait is how long a lagging replica of GitHub is given to catch up.
	staleWait = 3 * time.Second
)

// doubtful reports whether a read may be from before a person's event of the very
// same second: it shows something else than that, of what the bridge is to write,
// or just what was known before. Whole seconds do not tell. After a while it is
// believed.
func (w *work) doubtful(read, seen *mapping.Issue) bool {
	if w.GitHub.Whose(seen.Editor).Ours() || !recent(w.claim.Inbox[mapping.IssueRef(read.ID)]) {
		return false
	}
	known := w.link.Issue.Digest
	return mapping.DigestIssue(read) == known && mapping.DigestIssue(seen) != known || !maps.Equal(w.viewOf(read), w.viewOf(seen))
}

// recent reports whether an item was changed, or first seen since it was last
// worked, so short a while ago that reads of it may lag. A clock of GitHub's that
// is far from ours does not tell the former.
func recent(s store.Snapshot) bool {
	return time.Since(s.Seen) < doubt || time.Since(time.Unix(s.At, 0)).Abs() < doubt
}

func (w *work) viewOf(issue *mapping.Issue) mapping.View {
	view, _ := mapping.IssueView(issue, w.set.Scheme, w.set.Keys, w.link.Base)
	return view
}

// errLags puts a key off until a read cannot lag any more.
func (w *work) errLags() error {
	return w.lags("GitHub's read shows what stood there before a write of ours: it may lag")
}

// takesBack reports whether a snapshot may be from before a recent write of ours:
// it shows what stood there before it and was not written since, or, of the same
// second or where that is not known, something else than that wrote and no edit is
// known to have made of it. A person who did that is believed a while later. The answer
// to a label does not tell when the issue was updated, so it may be newer than all
// that is known. What was agreed on may stand there again, but not where an answer
// tells that it was written over: an edit that was brought back is not agreed on yet.
func (w *work) takesBack(issue *mapping.Issue) bool {
	view := w.viewOf(issue)
	return slices.ContainsFunc(w.link.Wrote, func(o mapping.Wrote) bool {
		v := view[o.Attribute].Value
		if time.Since(o.At) >= doubt {
			return false
		}
		is, agreed := mapping.DigestValue(o.Attribute, v), mapping.Same(o.Attribute, v, w.link.Base[o.Attribute].GitHub)
		return is == o.From && !w.wroteSince(o, is) && (o.UpdatedAt.IsZero() && !agreed || !issue.UpdatedAt.After(o.UpdatedAt)) ||
			(o.UpdatedAt.IsZero() || issue.UpdatedAt.Equal(o.UpdatedAt)) && !agreed && o == w.lastKnown(o.Attribute) && !w.madeOf(o, is)
	})
}

// wroteSince reports whether a write of ours after another one wrote a value.
func (w *work) wroteSince(o mapping.Wrote, is string) bool {
	after := w.link.Wrote[slices.Index(w.link.Wrote, o)+1:]
	return slices.ContainsFunc(after, func(n mapping.Wrote) bool { return n.Attribute == o.Attribute && n.To == is })
}

// lastKnown is the newest write of ours to an attribute of which an answer, or an
// echo in its stead, told what stands there since.
func (w *work) lastKnown(a mapping.Attribute) (last mapping.Wrote) {
	for _, o := range w.link.Wrote {
		if o.Attribute == a && o.To != "" {
			last = o
		}
	}
	return last
}

// madeOf reports whether a value is what a write of ours wrote, or what people
// made of that in the end as far as events tell.
func (w *work) madeOf(o mapping.Wrote, is string) bool {
	at, left := o.To, slices.Clone(w.edits)
	for {
		next := ""
		i := slices.IndexFunc(left, func(e mapping.Edit) bool {
			from, to, ok := editOf(e, o.Attribute)
			next = mapping.DigestValue(o.Attribute, w.strip(to))
			return ok && mapping.DigestValue(o.Attribute, w.strip(from)) == at
		})
		if i < 0 {
			return at == is
		}
		at, left = next, slices.Delete(left, i, i+1)
	}
}

// wrote notes what stood there before a write of ours to the issue, and the answer
// to it, where that tells when it took effect.
func (w *work) wrote(a mapping.Attribute, from string, at time.Time, answer *mapping.Issue) {
	o := mapping.Wrote{Attribute: a, From: mapping.DigestValue(a, from), At: at.UTC()}
	if answer != nil {
		o.UpdatedAt, o.To = answer.UpdatedAt, mapping.DigestValue(a, w.viewOf(answer)[a].Value)
	}
	w.link.Wrote = slices.DeleteFunc(w.link.Wrote, func(o mapping.Wrote) bool { return time.Since(o.At) >= doubt })
	w.link.Wrote = append(w.link.Wrote, o)
}
