package reconcile

import (
	"slices"
	"time"

	"planbridge/mapping"
)

const (
	// doubt is how long a read that may lag is not believed: longer than
	// GitHub's replicas do.
	doubt = 10 * time.Second
	// staleWait is how long a lagging replica of GitHub is given to catch up.
	staleWait = 3 * time.Second
)

// doubtful reports whether a read that shows what was known before, and not
// what a person's event of the very same second showed, may be from before that
// event: whole seconds do not tell. After a while it is believed.
func (w *work) doubtful(read, seen *mapping.Issue) bool {
	known := w.link.Issue.Digest
	return mapping.DigestIssue(read) == known && mapping.DigestIssue(seen) != known && !w.GitHub.Whose(seen.Editor).Ours() &&
		time.Since(w.claim.Inbox[mapping.IssueRef(read.ID)].Seen) < doubt
}

// errLags puts a key off until a read cannot lag any more.
func errLags() error {
	return later(staleWait, "GitHub's read shows what stood there before a write of ours: it may lag")
}

// takesBack reports whether a snapshot shows what stood there before a recent
// write of ours, and may be from before it: a person who took it back within the
// same second is believed a while later. The answer to a label does not tell
// when the issue was updated, so it may be newer than all that is known.
func (w *work) takesBack(issue *mapping.Issue) bool {
	view, _ := mapping.IssueView(issue, w.set.Scheme, w.set.Keys, w.link.Base)
	return slices.ContainsFunc(w.link.Wrote, func(o mapping.Wrote) bool {
		v := view[o.Attribute].Value
		return time.Since(o.At) < doubt && mapping.DigestValue(o.Attribute, v) == o.From &&
			!mapping.Same(o.Attribute, v, w.link.Base[o.Attribute].GitHub) &&
			(o.UpdatedAt.IsZero() || !issue.UpdatedAt.After(o.UpdatedAt))
	})
}

// wrote notes what stood there before a write of ours to the issue, and when
// that was updated by GitHub's clock, where it tells.
func (w *work) wrote(a mapping.Attribute, from string, at, updatedAt time.Time) {
	w.link.Wrote = slices.DeleteFunc(w.link.Wrote, func(o mapping.Wrote) bool { return time.Since(o.At) >= doubt })
	w.link.Wrote = append(w.link.Wrote, mapping.Wrote{Attribute: a, From: mapping.DigestValue(a, from), At: at.UTC(), UpdatedAt: updatedAt})
}
