package reconcile

import (
	"strings"

	"planbridge/mapping"
	"planbridge/store"
)

// Who writes to GitHub, and whether for a person: the write budget that all replicas
// share is parted fairly by it (see [store.Ask]).

// WriteClass says which of the budgets a write to GitHub is taken from.
type WriteClass string

// The classes of writes.
const (
	WriteContent WriteClass = "content" // makes an issue or a comment
	WriteEdit    WriteClass = "edit"    // any other write
)

// byPlanning is the author of what was made in planning.
const byPlanning = "planning"

// asker is on whose behalf GitHub is written, for the root link. Its rank tells what carries a
// person's change from what only shows planning's state, and from what an import makes for
// the first time.
func (t *turn) asker() store.Ask {
	l, rank := t.link, store.RankPeople
	entering := l.State == mapping.Entering || l.State == mapping.Creating
	switch {
	case l.Import != "" && (entering || t.shows && (l.Shown == nil || len(l.Shown.Labels) == 0)):
		rank = store.RankImport
	case t.shows:
		rank = store.RankShown
	}
	return store.Ask{Route: l.Route, Author: authorOf(&l.Pair), Rank: rank}
}

// showing says of what follows whether it only shows planning's state, until the function
// that it returns is called.
func (t *turn) showing(only bool) (over func()) {
	was := t.shows
	t.shows = only
	return func() { t.shows = was }
}

// author is who shares the route's part of a budget: whoever opened the issue.
func (w *work) author() string { return authorOf(w.pair) }

func authorOf(p *mapping.Pair) string {
	if by := p.Issue.Author; by != "" && p.Origin != mapping.Planning {
		return strings.ToLower(by)
	}
	return byPlanning
}

// reserve takes a write from GitHub's budget before what has to be read for it is,
// so that a key that has to wait for its turn asks GitHub nothing meanwhile.
func (w *work) reserve(class WriteClass) error {
	if w.set.DryRun {
		return nil
	}
	return onGitHub(done(w, Reserve{class, w.fresh}))
}
