package reconcile

import (
	"context"
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

// asker is the key on whose behalf GitHub is written.
type asker struct {
	w        *work
	shown    bool // what is written only shows planning's state
	reserved map[WriteClass]int
}

type askerKey struct{}

// asking tells who writes to whatever is done under the context that it returns.
func (w *work) asking(ctx context.Context) context.Context {
	return context.WithValue(ctx, askerKey{}, &asker{w: w, reserved: map[WriteClass]int{}})
}

func askerOf(ctx context.Context) *asker {
	a, _ := ctx.Value(askerKey{}).(*asker)
	return a
}

// AskOf is the ask for a write that is made under ctx. What no key asks for only
// shows planning's state.
func AskOf(ctx context.Context) store.Ask {
	a := askerOf(ctx)
	if a == nil {
		return store.Ask{Rank: store.RankShown}
	}
	return store.Ask{Route: a.w.link.Route, Author: a.w.author(), Rank: a.rank()}
}

// Reserved reports whether a write of a class was reserved for what is done under
// ctx, and uses the reservation up.
func Reserved(ctx context.Context, class WriteClass) bool {
	a := askerOf(ctx)
	if a == nil || a.reserved[class] == 0 {
		return false
	}
	a.reserved[class]--
	return true
}

// rank tells what carries a person's change from what only shows planning's state,
// and from what an import makes for the first time.
func (a *asker) rank() store.Rank {
	l := a.w.link
	entering := l.State == mapping.Entering || l.State == mapping.Creating
	switch {
	case l.Import != "" && (entering || a.shown && (l.Shown == nil || len(l.Shown.Labels) == 0)):
		return store.RankImport
	case a.shown:
		return store.RankShown
	}
	return store.RankPeople
}

// showing says of what follows whether it only shows planning's state. It returns
// what was said before.
func showing(ctx context.Context, shown bool) (before bool) {
	if a := askerOf(ctx); a != nil {
		before, a.shown = a.shown, shown
	}
	return before
}

// author is who shares the route's part of a budget: whoever opened the issue.
func (w *work) author() string {
	if by := w.link.Issue.Author; by != "" && w.link.Origin != mapping.Planning {
		return strings.ToLower(by)
	}
	return byPlanning
}

// reserve takes a write from GitHub's budget before what has to be read for it is,
// so that a key that has to wait for its turn asks GitHub nothing meanwhile.
func (w *work) reserve(ctx context.Context, class WriteClass) error {
	a := askerOf(ctx)
	if a == nil || a.reserved[class] > 0 || w.set.DryRun {
		return nil
	}
	w.rise()
	if err := w.GitHub.Reserve(ctx, class); err != nil {
		return onGitHub(err)
	}
	a.reserved[class]++
	return nil
}
