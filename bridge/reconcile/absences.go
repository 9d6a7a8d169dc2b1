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

// missing takes in that an item could not be read. Only a read of the item
// itself that answers gone twice orphans a link; a refusal never does, nor a
// project or repository that cannot be read as a whole.
func (w absences) missing(side mapping.Side, err error) error {
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
	if err := w.doubtAbsence(side, seen, w.pair.GoneSince); err != nil {
		return err
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
func (w absences) checkRepository() error {
	now, err := do(w, Locate{w.owner.Issue.Repo, w.owner.Issue.RepoID, true})
	switch {
	case isWithheld(err):
		return onGitHub(err)
	case err == nil && !strings.EqualFold(now, w.owner.Issue.Repo):
		return mover(w).toRepository(now)
	}
	_, err = do(w, ReadRepositoryName{w.owner.Issue.Repo})
	if IsGone(err) {
		err = fmt.Errorf("repository %s cannot be read: %w", w.owner.Issue.Repo, mapping.ErrForbidden)
	}
	return onGitHub(err)
}

// checkProject returns nil where the planning project answers for itself. A key
// whose project does not waits until a poll succeeds.
func (w absences) checkProject() error {
	err := done(w, CheckProject{})
	if IsGone(err) {
		return &blockedOn{ServicePlanning(w.link.Project), fmt.Sprintf("the project itself answers that it is gone, so its items are not believed to be: %v", err)}
	}
	return onPlanning(err)
}

// taskGone returns nil where a task of the card is proven gone, by the rules of missing.
func (w absences) taskGone(c *mapping.Pair) error {
	if err := w.checkProject(); err != nil {
		return err
	}
	scope, _ := w.scope(mapping.Planning)
	seen := get(w, Missed{scope, mapping.TaskRef(c.Card.ID), w.absentFor(mapping.Planning)})
	if c.GoneSince.IsZero() {
		c.GoneSince = w.Now().UTC()
	}
	return w.doubtAbsence(mapping.Planning, seen, c.GoneSince)
}

// doubtAbsence returns nil once an item that first answered gone at a time is believed to be.
func (w absences) doubtAbsence(side mapping.Side, seen Absence, since time.Time) error {
	first := since
	if seen.First.After(first) { // an earlier process, or another one, met the others
		first = seen.First
	}
	if wait := w.goneWait(side) - w.since(first); wait > 0 {
		return later(wait, "%s says that its item is gone: to be read once more", side)
	}
	if left := w.confirmWait(side) - w.since(since); seen.Many && left > 0 {
		return w.holdAbsence(side, seen, since, left)
	}
	return nil
}

// noteTaskFound takes in that a task of the card could be read.
func (w absences) noteTaskFound(c *mapping.Pair) {
	if !c.GoneSince.IsZero() {
		scope, _ := w.scope(mapping.Planning)
		tell(w, Found{scope, mapping.TaskRef(c.Card.ID), w.absentFor(mapping.Planning)})
		c.GoneSince = time.Time{}
	}
}

// holdAbsence puts off a link whose item answers gone, since when, while many others do:
// left before a later look is believed.
func (w absences) holdAbsence(side mapping.Side, seen Absence, since time.Time, left time.Duration) error {
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
func (w absences) confirmGone(side mapping.Side, seen Absence) error {
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

func (w absences) tellGone(seen Absence) error {
	kind, others := w.pair.Partner().Kind(), ""
	scope, _ := w.scope(mapping.Planning)
	if seen.Many {
		if !get(w, Announce{Scope: scope, OnIssue: true}) {
			return nil
		}
		others = fmt.Sprintf(" So are %d others of the project; their issues are not told one by one.", seen.Gone-1)
	}
	_, err := ledger(w).comment(notice{
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
func (w absences) scope(side mapping.Side) (string, mapping.Ref) {
	if side == mapping.GitHub {
		return ServiceRepository(w.owner.Issue.Repo), mapping.IssueRef(w.owner.Issue.ID)
	}
	return ServicePlanning(w.link.Project), w.pair.Partner()
}

// goneWait is how long a side is given to know an item that it calls gone.
func (w absences) goneWait(side mapping.Side) time.Duration {
	return max(goneWait, w.set.Settle.of(side))
}

// confirmWait is how long after the first read that answered gone a look is a later
// one, which confirms that.
func (w absences) confirmWait(side mapping.Side) time.Duration {
	wait := w.set.Confirm.of(side)
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
func (w absences) absentFor(side mapping.Side) time.Duration { return w.confirmWait(side) + heldMost }

// confirmIn is how long it is until an orphan is looked at once more; 0: now, or it is
// confirmed already.
func (w absences) confirmIn() time.Duration {
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
func (w absences) confirms() bool { return w.pair.Unconfirmed && w.confirmIn() == 0 }

// confirmLater makes the key of an orphan come back to be confirmed.
func (w absences) confirmLater() {
	if wait := w.confirmIn(); w.pair.State == mapping.Orphaned {
		w.again = w.again.soonest(revisit{wait, w.pair.Why + ": a later look confirms it"})
	}
}

// noteFound takes in that an item could be read: an orphan is one no more.
func (w absences) noteFound(side mapping.Side) {
	scope, item := w.scope(side)
	tell(w, Found{scope, item, w.absentFor(side)})
	delete(w.pair.Gone, side)
	if w.pair.State == mapping.Orphaned && len(w.pair.Gone) == 0 {
		w.happens(w.backTo(mapping.EventReappeared))
		w.pair.Unconfirmed = false
		w.note("", "", "back", "its item in "+string(side)+" is there again")
	}
}

// backTo is the event that ends a pair's rest: the one given where the pair is whole.
func (w absences) backTo(whole mapping.PairEvent) mapping.PairEvent {
	if w.pair.Whole() {
		return whole
	}
	return mapping.EventResumed
}
