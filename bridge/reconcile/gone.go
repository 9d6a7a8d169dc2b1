package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
)

// goneWait lies at least between the two reads that have to answer gone; more
// where the side may lag for longer.
const goneWait = 10 * time.Second

// errGone ends a key's work: one of its items is proven gone.
var errGone = errors.New("item is gone")

func isGone(err error) bool {
	return errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone)
}

// missing takes in that an item could not be read. Only a read of the item
// itself that answers gone twice orphans a link; a refusal never does, nor a
// repository that cannot be read as a whole.
func (w *work) missing(ctx context.Context, side mapping.Side, err error) error {
	if !isGone(err) {
		return onSide(side, err)
	}
	if side == mapping.GitHub {
		if _, err := w.atGitHub().RepositoryName(ctx, w.link.Issue.Repo); err != nil {
			if isGone(err) {
				err = fmt.Errorf("repository %s cannot be read: %w", w.link.Issue.Repo, mapping.ErrForbidden)
			}
			return onGitHub(err)
		}
	}
	if w.link.State == mapping.Orphaned {
		return errGone
	}
	if w.link.Gone == nil {
		w.link.Gone = map[mapping.Side]int{}
	}
	if w.link.Gone[side]++; w.link.Gone[side] == 1 {
		w.link.GoneSince = time.Now().UTC()
	}
	if wait := w.goneWait(side) - time.Since(w.link.GoneSince); wait > 0 {
		return later(wait, "%s says that its item is gone: to be read once more", side)
	}
	w.link.State, w.link.Why = mapping.Orphaned, fmt.Sprintf("its item in %s is gone", side)
	w.note("", "", "orphaned", w.link.Why)
	if side == mapping.Planning && w.link.Issue.Number != 0 {
		if _, err := w.comment(ctx, notice{
			id: "gone-" + string(w.link.Card.ID), repeated: true,
			text: "The " + w.link.Partner().Kind() + " of this issue is gone from the planning service, so planbridge no longer synchronises it. Nothing was deleted here.",
		}); err != nil {
			w.log.Warn("saying on the issue that its card is gone", "err", err)
		}
	}
	return errGone
}

// goneWait is how long a side is given to know an item that it calls gone.
func (w *work) goneWait(side mapping.Side) time.Duration {
	if side == mapping.GitHub {
		return max(goneWait, w.set.Settle.GitHub)
	}
	return max(goneWait, w.set.Settle.Planning)
}

// found takes in that an item could be read: an orphan is one no more.
func (w *work) found(side mapping.Side) {
	delete(w.link.Gone, side)
	if w.link.State == mapping.Orphaned && len(w.link.Gone) == 0 {
		w.link.State, w.link.Why = mapping.Linked, ""
		w.note("", "", "back", "its item in "+string(side)+" is there again")
	}
}
