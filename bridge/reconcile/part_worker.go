package reconcile

import (
	"cmp"
	"errors"
	"slices"

	"planbridge/mapping"
)

// A part of a root link is a sub-issue with its task. The code for root links also works parts,
// under the root's claim and in the root's record. The differences are in this file, or ask
// [mapping.Pair.IsTask].

// part is the work on one part of the root link.
func (w partWorker) part(p *mapping.Pair) work {
	if pw, ok := w.parts[p]; ok {
		return pw
	}
	set := *w.set
	set.Scheme.Estimate = set.Scheme.Hours // a task's estimate is in hours
	pw := w.workOn(p, &set, p.Unfinished || w.link.Moving != nil || len(p.Asking) > 0)
	pw.root, pw.route = w.state, w.route
	if w.parts == nil {
		w.parts = map[*mapping.Pair]work{}
	}
	w.parts[p] = pw
	return pw
}

// workFamily brings an issue's sub-issues and their tasks to agreement, once the issue and its card
// agree or have to wait. The argument err is their result. A failed rule blocks neither the next
// rule nor the root.
func (w partWorker) workFamily(err error) error {
	if w.link.Cleaning || w.link.Parted && cleaner(w).mayOweText() {
		return cleaner(w).cleanFamily(err)
	}
	var put *requeueAfter
	if w.route == nil || !w.served || w.pair.State != mapping.Linked && !w.link.OutlivesIssue() || err != nil && !errors.As(err, &put) {
		return err
	}
	errs := []error{err}
	for i := range familyRules {
		if isTerminal(errs) {
			break
		}
		_, err := familyRules[i].apply(work(w))
		errs = append(errs, err)
	}
	projector(w).showLater()
	return mostSevere(errs)
}

// ofLinked makes a rule that applies while the root has both of its items.
func ofLinked[R ~struct{ *state }](one func(R) error) func(work) (verdict, error) {
	return func(w work) (verdict, error) {
		if w.pair.State != mapping.Linked {
			return pass, nil
		}
		return ofSubIssues(one)(w)
	}
}

// ofSubIssues makes a rule that applies where the route's tasks are sub-issues.
func ofSubIssues[R ~struct{ *state }](one func(R) error) func(work) (verdict, error) {
	return func(w work) (verdict, error) {
		if w.route.Tasks != mapping.TasksSubIssues {
			return pass, nil
		}
		return pass, one(R(w))
	}
}

// workParts works the sub-issues that have changes.
func (w partWorker) workParts() error {
	var errs []error
	for _, p := range slices.Clone(w.link.SubLinks) {
		if isTerminal(errs) {
			break
		}
		pw := w.part(p)
		var err error
		if intake(pw).takeEvents(); partWorker(pw).hasChanges() {
			err = partWorker(pw).workPart()
		}
		repairer(pw).scheduleVerify() // also of those that rest: the key's date is set anew
		errs = append(errs, w.absorb(pw, err))
	}
	return mostSevere(errs)
}

// workPart brings one part to agreement.
func (w partWorker) workPart() error {
	err := mover(w).readdress(work(w).runRules())
	if errs := []error{err}; !isTerminal(errs) {
		err = mostSevere(append(errs, subIssues(w).joinParent()))
	}
	var put *requeueAfter
	if err != nil && !errors.As(err, &put) {
		w.owner.Unfinished = true // both items are read next time, despite this claim's reads
	}
	return err
}

// hasChanges reports whether the part has anything to do. Nothing is made for an issue that is gone.
func (w partWorker) hasChanges() bool {
	p := w.pair
	if p.State == mapping.Creating && w.root.pair.State != mapping.Linked {
		return false
	}
	_, issue := w.claim.Inbox[mapping.IssueRef(p.Issue.ID)]
	_, task := w.claim.Inbox[p.Partner()]
	if issue || task || w.mustRead || p.State == mapping.Creating || len(p.Undo)+len(p.Gone)+len(w.edits)+len(w.moves) > 0 || p.Join {
		return true
	}
	return w.book().Due() || w.taskMoved()
}

// taskMoved reports whether the part's task, as the card's tasks show it, differs from what is
// known.
func (w partWorker) taskMoved() bool {
	seen, listed := reader(w).taskSeen(), w.root.tasks.listed
	if seen == nil {
		return listed && w.pair.State != mapping.Orphaned
	}
	if seen.Version > w.pair.Card.Version || w.pair.State == mapping.Orphaned {
		return true
	}
	for a, v := range reader(w).planningView(seen) {
		if base, ok := w.pair.Base[a]; ok && (v.Version > base.Version || listed && !mapping.Same(a, v.Value, base.Planning)) {
			return true
		}
	}
	return false
}

// absorb takes over the results of a part's work. A part that never came to be is removed.
func (w partWorker) absorb(pw work, err error) error {
	pw.again = w.again.latest(pw.again)
	absences(pw).confirmLater()
	w.again = pw.again
	w.withheld = cmp.Or(w.withheld, pw.withheld)
	w.showAgain = w.showAgain.soonest(pw.showAgain)
	half := pw.pair.Card.ID == "" || pw.owner.Issue.ID == 0
	if errors.Is(err, errRemove) || half && pw.pair.State == mapping.Orphaned {
		w.link.SubLinks = slices.DeleteFunc(w.link.SubLinks, func(p *mapping.Pair) bool { return p == pw.pair })
		return nil
	}
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}
