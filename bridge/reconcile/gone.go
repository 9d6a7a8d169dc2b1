package reconcile

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"planbridge/mapping"
)

// goneWait lies at least between the two reads that have to answer gone; more
// where the side may lag for longer.
const goneWait = 10 * time.Second

// errGone ends a key's work: one of its items is proven gone.
var errGone = errors.New("item is gone")

// IsGone reports an error by which a service says that an item is not there.
func IsGone(err error) bool {
	return errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone)
}

// missing takes in that an item could not be read. Only a read of the item
// itself that answers gone twice orphans a link; a refusal never does, nor a
// project or repository that cannot be read as a whole.
func (w *work) missing(side mapping.Side, err error) error {
	if !IsGone(err) {
		return onSide(side, err)
	}
	check := w.checkProject
	if side == mapping.GitHub {
		check = w.checkRepository
	}
	if err := check(); err != nil {
		return err
	}
	scope, item := w.scope(side)
	seen := get(w, Missed{scope, item, w.absentFor(side)})
	if w.pair.State == mapping.Orphaned {
		return w.confirmGone(side, seen)
	}
	if w.pair.Gone == nil {
		w.pair.Gone = map[mapping.Side]int{}
	}
	if w.pair.Gone[side]++; w.pair.Gone[side] == 1 {
		w.pair.GoneSince = w.Now().UTC()
	}
	since := w.pair.GoneSince
	if seen.First.After(since) { // an earlier process, or another one, met the others
		since = seen.First
	}
	if wait := w.goneWait(side) - w.since(since); wait > 0 {
		return later(wait, "%s says that its item is gone: to be read once more", side)
	}
	left := w.confirmWait(side) - w.since(w.pair.GoneSince)
	if seen.Many && left > 0 {
		return w.holdAbsence(side, seen, w.pair.GoneSince, left)
	}
	w.count(CountAbsences, w.link.Route, string(side), "believed")
	if w.pair.State == mapping.Entering {
		return errRemove // it goes without a word
	}
	w.happens(mapping.EventVanished)
	w.pair.Why = fmt.Sprintf("its item in %s is gone", side)
	w.pair.Unconfirmed = true
	w.note("", "", "orphaned", w.pair.Why)
	return w.confirmGone(side, seen)
}

// checkRepository returns nil where the repository of the link's issue answers under
// its name.
func (w *work) checkRepository() error {
	now, err := do(w, Locate{w.owner.Issue.Repo, w.owner.Issue.RepoID, true})
	switch {
	case isWithheld(err):
		return onGitHub(err)
	case err == nil && !strings.EqualFold(now, w.owner.Issue.Repo):
		return w.toRepository(now)
	}
	_, err = do(w, ReadRepositoryName{w.owner.Issue.Repo})
	if IsGone(err) {
		err = fmt.Errorf("repository %s cannot be read: %w", w.owner.Issue.Repo, mapping.ErrForbidden)
	}
	return onGitHub(err)
}

// checkProject returns nil where the planning project answers for itself. A key
// whose project does not waits until a poll succeeds.
func (w *work) checkProject() error {
	err := done(w, CheckProject{})
	if IsGone(err) {
		return &waitFor{ServicePlanning(w.link.Project), fmt.Sprintf("the project itself answers that it is gone, so its items are not believed to be: %v", err)}
	}
	return onPlanning(err)
}

// taskGone returns nil where a task of the card is proven gone, by the rules of missing.
func (w *work) taskGone(c *mapping.Pair) error {
	if err := w.checkProject(); err != nil {
		return err
	}
	scope, _ := w.scope(mapping.Planning)
	seen := get(w, Missed{scope, mapping.TaskRef(c.Card.ID), w.absentFor(mapping.Planning)})
	if c.GoneSince.IsZero() {
		c.GoneSince = w.Now().UTC()
	}
	since := c.GoneSince
	if seen.First.After(since) {
		since = seen.First
	}
	if wait := w.goneWait(mapping.Planning) - w.since(since); wait > 0 {
		return later(wait, "planning says that task %s is gone: to be read once more", c.Card.ID)
	}
	if left := w.confirmWait(mapping.Planning) - w.since(c.GoneSince); seen.Many && left > 0 {
		return w.holdAbsence(mapping.Planning, seen, c.GoneSince, left)
	}
	return nil
}

// taskFound takes in that a task of the card could be read.
func (w *work) taskFound(c *mapping.Pair) {
	if !c.GoneSince.IsZero() {
		scope, _ := w.scope(mapping.Planning)
		tell(w, Found{scope, mapping.TaskRef(c.Card.ID), w.absentFor(mapping.Planning)})
		c.GoneSince = time.Time{}
	}
}

// holdAbsence puts off a link whose item answers gone, since when, while many others do:
// left before a later look is believed.
func (w *work) holdAbsence(side mapping.Side, seen Absence, since time.Time, left time.Duration) error {
	scope, _ := w.scope(side)
	w.count(CountAbsences, w.link.Route, string(side), "held")
	confirmed := w.Now().Add(left).UTC().Format(time.RFC3339)
	if get(w, Announce{Scope: scope}) {
		logger{w: w}.Warn("so many items at once answer that they are gone: not believed before a later look",
			"side", string(side), "of", scope, "gone", seen.Gone, "confirmed_at", confirmed)
	}
	wait := min(max(w.goneWait(side), w.since(since)), heldMost, left)
	return later(wait, "%s says that its item is gone, and so are %d others: believed if it is gone at %s still", side, seen.Gone-1, confirmed)
}

// heldMost bounds the time between two looks at an item whose absence is not believed.
const heldMost = 5 * time.Minute

// confirmGone says on the issue of an orphan that its card is gone, once a later look
// has confirmed it. Of many that are gone at once one issue is told.
func (w *work) confirmGone(side mapping.Side, seen Absence) error {
	if !w.pair.Unconfirmed || w.confirmIn() > 0 {
		return errGone
	}
	if side == mapping.Planning && w.owner.Issue.Number != 0 {
		if err := w.tellGone(seen); err != nil {
			return err
		}
	}
	w.pair.Unconfirmed = false
	return errGone
}

func (w *work) tellGone(seen Absence) error {
	kind, others := w.pair.Partner().Kind(), ""
	scope, _ := w.scope(mapping.Planning)
	if seen.Many {
		if !get(w, Announce{Scope: scope, OnIssue: true}) {
			return nil
		}
		others = fmt.Sprintf(" So are %d others of the project; their issues are not told one by one.", seen.Gone-1)
	}
	_, err := w.comment(notice{
		id: "gone-" + string(w.pair.Card.ID), repeated: true,
		text: "The " + kind + " of this issue is gone from the planning service, so planbridge no longer synchronises it. Nothing was deleted here." + others,
	})
	if err == nil {
		return nil
	}
	if seen.Many {
		_ = get(w, Announce{Scope: scope, OnIssue: true, Back: true})
	}
	if IsGone(err) || errors.Is(err, mapping.ErrForbidden) || errors.Is(err, mapping.ErrRejected) || isWithheld(err) {
		w.log.Warn("saying on the issue that its "+kind+" is gone", "err", err)
		return nil
	}
	return err
}

// scope names what the link's item on a side belongs to, and the item.
func (w *work) scope(side mapping.Side) (string, mapping.Ref) {
	if side == mapping.GitHub {
		return ServiceRepository(w.owner.Issue.Repo), mapping.IssueRef(w.owner.Issue.ID)
	}
	return ServicePlanning(w.link.Project), w.pair.Partner()
}

// goneWait is how long a side is given to know an item that it calls gone.
func (w *work) goneWait(side mapping.Side) time.Duration {
	if side == mapping.GitHub {
		return max(goneWait, w.set.Settle.GitHub)
	}
	return max(goneWait, w.set.Settle.Planning)
}

// confirmWait is how long after the first read that answered gone a look is a later
// one, which confirms that.
func (w *work) confirmWait(side mapping.Side) time.Duration {
	wait := w.set.Confirm.Planning
	if side == mapping.GitHub {
		wait = w.set.Confirm.GitHub
	}
	if wait <= 0 {
		wait = confirmDefault
	}
	return max(min(wait, confirmMost), w.goneWait(side)*3/2)
}

// confirmDefault is the interval of sweeps where there are none, and confirmMost
// bounds how long an absence is not confirmed.
const (
	confirmDefault = 10 * time.Minute
	confirmMost    = time.Hour
)

// absentFor is how long an item that answered gone counts among those that did.
func (w *work) absentFor(side mapping.Side) time.Duration { return w.confirmWait(side) + heldMost }

// confirmIn is how long it is until an orphan is looked at once more; 0: now, or it is
// confirmed already.
func (w *work) confirmIn() time.Duration {
	if !w.pair.Unconfirmed {
		return 0
	}
	side := mapping.Planning
	if w.pair.Gone[mapping.GitHub] > 0 {
		side = mapping.GitHub
	}
	return max(0, w.confirmWait(side)-w.since(w.pair.GoneSince))
}

// confirms reports whether this is the look that confirms that an orphan's item is gone.
func (w *work) confirms() bool { return w.pair.Unconfirmed && w.confirmIn() == 0 }

// confirmLater makes the key of an orphan come back to be confirmed.
func (w *work) confirmLater() {
	if wait := w.confirmIn(); w.pair.State == mapping.Orphaned {
		w.again = w.again.sooner(revisit{wait, w.pair.Why + ": a later look confirms it"})
	}
}

// found takes in that an item could be read: an orphan is one no more.
func (w *work) found(side mapping.Side) {
	scope, item := w.scope(side)
	tell(w, Found{scope, item, w.absentFor(side)})
	delete(w.pair.Gone, side)
	if w.pair.State == mapping.Orphaned && len(w.pair.Gone) == 0 {
		w.happens(w.backTo(mapping.EventReappeared))
		w.pair.Unconfirmed = false
		w.note("", "", "back", "its item in "+string(side)+" is there again")
	}
}
