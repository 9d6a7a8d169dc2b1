package reconcile

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"planbridge/mapping"
)

// goneWait is the least time between the two reads that must both answer "gone". A side that
// may lag longer gets more.
const goneWait = 10 * time.Second

// missing handles a failed read of an item. Two reads of the item itself must answer "gone"
// before the link becomes orphaned. A refusal never orphans it, nor does a project or
// repository that does not answer as a whole.
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
	switch {
	case w.pair.State == mapping.Entering && side == w.pair.Origin:
		return errRemove // it is removed silently
	case w.pair.State == mapping.Entering:
		w.forgetFound()
		return later(0, "its partner in %s, which its marker showed, is gone", side)
	}
	w.happens(mapping.EventVanished)
	w.pair.Why = fmt.Sprintf("its item in %s is gone", side)
	w.pair.Unconfirmed = true
	w.note("", "", "orphaned", w.pair.Why)
	return w.confirmGone(side, seen)
}

// checkRepository returns nil where the repository of the link's issue answers under its name.
func (w absences) checkRepository() error {
	now, err := do(w, Locate{w.owner.Issue.Repo, w.owner.Issue.RepoID, true})
	switch {
	case isWithheld(err):
		return onGitHub(err)
	case err == nil && !strings.EqualFold(now, w.owner.Issue.Repo):
		return mover(w).toRepository(now)
	}
	_, err = do(w, ReadArchived{w.owner.Issue.Repo})
	if IsGone(err) {
		err = fmt.Errorf("repository %s cannot be read: %w", w.owner.Issue.Repo, mapping.ErrForbidden)
	}
	return onGitHub(err)
}

// checkProject returns nil where the planning project answers for itself. Otherwise the key
// waits until a poll of the project succeeds.
func (w absences) checkProject() error {
	err := done(w, CheckProject{})
	if IsGone(err) {
		return &blockedOn{ServicePlanning(w.link.Project), fmt.Sprintf("the project itself answers that it is gone, so its items are not believed to be: %v", err)}
	}
	return onPlanning(err)
}

// taskGone returns nil once a task of the card is proven gone, by the same rules as missing.
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

// doubtAbsence returns nil once the absence of an item is believed. since is when the item
// first answered "gone".
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

// noteTaskFound records that a task of the card could be read.
func (w absences) noteTaskFound(c *mapping.Pair) {
	if !c.GoneSince.IsZero() {
		scope, _ := w.scope(mapping.Planning)
		send(w, Found{scope, mapping.TaskRef(c.Card.ID), w.absentFor(mapping.Planning)})
		c.GoneSince = time.Time{}
	}
}

// holdAbsence puts off a link whose item answers "gone" while many others do so, too. The time left
// is that until the read that confirms the absence.
func (w absences) holdAbsence(side mapping.Side, seen Absence, since time.Time, left time.Duration) error {
	scope, _ := w.scope(side)
	w.count(CountAbsences, w.link.Route, string(side), "held")
	confirmed := w.Now().Add(left).UTC().Format(time.RFC3339)
	if get(w, Announce{Scope: scope}) {
		logger{w: w}.Warn("so many items at once answer that they are gone: not believed before a later look",
			"side", string(side), "of", scope, "gone", seen.Gone, "confirmed_at", confirmed)
	}
	wait := min(max(w.goneWait(side), w.since(since)), heldMost, left)
	return later(wait, "%s says that its item is gone, and so %s: believed if it is gone at %s still", side, mapping.Count(seen.Gone-1, "other is", "others are"), confirmed)
}

// heldMost bounds the time between two reads of an item whose absence is in doubt.
const heldMost = 5 * time.Minute

// confirmGone comments on the issue of an orphan that its card is gone, once a later read has
// confirmed it. Where many cards are gone at once, one issue gets the comment.
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

// tellGone posts that comment.
func (w absences) tellGone(seen Absence) error {
	kind, others := w.pair.Partner().Kind(), ""
	scope, _ := w.scope(mapping.Planning)
	if seen.Many {
		if !get(w, Announce{Scope: scope, OnIssue: true}) {
			return nil
		}
		others = " So are " + mapping.Count(seen.Gone-1, "other", "others") + " of the project; their issues are not told one by one."
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

// scope returns the name of the project or repository that holds the link's item on a side,
// and the item.
func (w absences) scope(side mapping.Side) (string, mapping.Ref) {
	if side == mapping.GitHub {
		return ServiceRepository(w.owner.Issue.Repo), mapping.IssueRef(w.owner.Issue.ID)
	}
	return ServicePlanning(w.link.Project), w.pair.Partner()
}

// goneWait is how long a side may lag before its answer "gone" counts.
func (w absences) goneWait(side mapping.Side) time.Duration {
	return max(goneWait, w.set.Settle.of(side))
}

// confirmWait is the time from the first answer "gone" to the read that confirms it.
func (w absences) confirmWait(side mapping.Side) time.Duration {
	wait := w.set.Confirm.of(side)
	if wait <= 0 {
		wait = confirmDefault
	}
	return max(min(wait, confirmMost), w.goneWait(side)*3/2)
}

// confirmDefault is the interval of sweeps where none is configured. confirmMost bounds how
// long an absence stays unconfirmed.
const (
	confirmDefault = 10 * time.Minute
	confirmMost    = time.Hour
)

// absentFor is how long an absent item counts among the absent items of its scope.
func (w absences) absentFor(side mapping.Side) time.Duration { return w.confirmWait(side) + heldMost }

// confirmIn is the time until the read that confirms an orphan; 0: it is due, or was made.
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

// confirms reports whether this claim makes the read that confirms the absence.
func (w absences) confirms() bool { return w.pair.Unconfirmed && w.confirmIn() == 0 }

// confirmLater makes the key of an orphan due again for the confirming read.
func (w absences) confirmLater() {
	if wait := w.confirmIn(); w.pair.State == mapping.Orphaned {
		w.again = w.again.soonest(revisit{wait, w.pair.Why + ": a later look confirms it"})
	}
}

// noteFound records that an item could be read. An orphan whose items are all there again
// ceases to be one.
func (w absences) noteFound(side mapping.Side) {
	scope, item := w.scope(side)
	send(w, Found{scope, item, w.absentFor(side)})
	delete(w.pair.Gone, side)
	if w.pair.State == mapping.Orphaned && len(w.pair.Gone) == 0 {
		back := mapping.EventResumed
		if w.pair.Whole() {
			back = mapping.EventReappeared
		}
		w.happens(back)
		w.pair.Unconfirmed = false
		w.note("", "", "back", "its item in "+string(side)+" is there again")
	}
}

// forgetFound forgets a partner that keepFound recorded, and that is gone.
func (w absences) forgetFound() {
	w.pair.Gone, w.pair.GoneSince = nil, time.Time{}
	if w.pair.Origin == mapping.GitHub {
		w.pair.Card = mapping.CardID{}
	} else {
		w.pair.Issue = mapping.IssueID{}
	}
}
