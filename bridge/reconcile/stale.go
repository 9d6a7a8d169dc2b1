package reconcile

import (
	"maps"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
	"planbridge/store"
)

// staleWait is how long a lagging replica of GitHub is given to catch up.
const staleWait = 3 * time.Second

// doubtful reports whether a read may be from before a person's event of the very
// same second: it shows something else than that, of what the bridge is to write,
// or just what was known before. Whole seconds do not tell. After a while it is
// believed.
func (w *work) doubtful(read, seen *mapping.Issue) bool {
	if w.Whose(seen.Editor).Ours() || !w.recent(w.claim.Inbox[mapping.IssueRef(read.ID)]) {
		return false
	}
	known := w.owner.Issue.Digest
	return mapping.DigestIssue(read) == known && mapping.DigestIssue(seen) != known || !maps.Equal(w.viewOf(read), w.viewOf(seen))
}

// recent reports whether an item was changed, or first seen since it was last
// worked, so short a while ago that reads of it may lag. A clock of GitHub's that
// is far from ours does not tell the former.
func (w *work) recent(s store.Snapshot) bool {
	return journal.Recent(s.Seen, time.Unix(s.At, 0), w.Now())
}

func (w *work) viewOf(issue *mapping.Issue) mapping.View {
	view, _ := w.route.IssueView(issue, w.set.Scheme, w.set.Keys, w.pair.Base)
	return view
}

// errLags puts a key off until a read cannot lag any more.
func (w *work) errLags() error {
	return w.lags("GitHub's read shows what stood there before a write of ours: it may lag")
}

// takesBack reports whether a snapshot may be from before a recent write of ours.
func (w *work) takesBack(issue *mapping.Issue) bool {
	return w.book().TakesBack(w.viewOf(issue), issue.UpdatedAt)
}

// wrote notes what stood there before a write of ours to the issue, and the answer
// to it, where that tells when it took effect.
func (w *work) wrote(a mapping.Attribute, from string, at time.Time, answer *mapping.Issue) {
	made := journal.WroteFrom(a, from, at)
	if answer != nil {
		made.UpdatedAt, made.To = answer.UpdatedAt, mapping.DigestValue(a, w.viewOf(answer)[a].Value)
	}
	journal.Wrote(&w.pair.Journal, made, w.Now())
}
