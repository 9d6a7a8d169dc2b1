package reconcile

import (
	"errors"

	"planbridge/mapping"
)

// A part of a root link, a sub-issue with its task, is worked as a link of its
// own by all that works a root link, under the root's claim and in the root's
// record. What differs is here, or asks [mapping.Pair.IsTask].

// part is the work on one part of the root link.
func (w *work) part(p *mapping.Pair) *work {
	if pw := w.parts[p]; pw != nil {
		return pw
	}
	set := *w.set
	set.Scheme.Estimate = set.Scheme.Hours // a task's estimate is in hours
	pw := w.workOn(p, &set, p.Unfinished || len(p.Asking) > 0)
	pw.root, pw.route = w, w.route
	if w.parts == nil {
		w.parts = map[*mapping.Pair]*work{}
	}
	w.parts[p] = pw
	return pw
}

// home is the work on the root link, which may be this one.
func (w *work) home() *work {
	if w.root != nil {
		return w.root
	}
	return w
}

// stirred reports whether there is anything to do about the part.
func (w *work) stirred() bool {
	p := w.pair
	_, issue := w.claim.Inbox[mapping.IssueRef(p.Issue.ID)]
	_, task := w.claim.Inbox[p.Partner()]
	if issue || task || w.looked || p.State == mapping.Creating || len(p.Undo)+len(p.Gone)+len(w.edits)+len(w.moves) > 0 || p.Join {
		return true
	}
	return w.book().Due() || w.taskMoved()
}

// taskMoved reports whether the card's tasks show the part's one otherwise than
// it is known.
func (w *work) taskMoved() bool {
	all := &w.root.tasks
	t, found := all.seen[w.pair.Card.ID]
	if !found {
		return all.listed && w.pair.State != mapping.Orphaned
	}
	if t.Version > w.pair.Card.Version || w.pair.State == mapping.Orphaned {
		return true
	}
	for a, v := range mapping.TaskItemView(&t, w.set.Keys) {
		if base, ok := w.pair.Base[a]; ok && (v.Version > base.Version || all.listed && !mapping.Same(a, v.Value, base.Planning)) {
			return true
		}
	}
	return false
}

// workPart brings one part to agreement.
func (w *work) workPart() error {
	err := w.settle()
	if err != nil {
		err = w.readdress(err)
	}
	if errs := []error{err}; !ends(errs) {
		err = worst(append(errs, w.join()))
	}
	var put *again
	if err != nil && !errors.As(err, &put) {
		w.owner.Unfinished = true // whatever was seen: both items are read next time
	}
	return err
}

// numberBefore notes, before the sub-issue is made for the first time, how far the
// repository's issues go: after a lost answer it is looked for behind them.
func numberBefore(w *work) (verdict, error) {
	if w.pair.State != mapping.Creating || w.pair.Intent.Sent || w.pair.Intent.After > 0 {
		return pass, nil
	}
	last, err := do(w, ReadLastNumber{w.owner.Issue.Repo})
	w.pair.Intent.After = last
	return pass, onGitHub(err)
}

// seeTask is seeCard for a part's task.
func (w *work) seeTask() error {
	all := &w.root.tasks
	t, found := all.seen[w.pair.Card.ID]
	slot, inSlot := w.claim.Inbox[w.pair.Partner()]
	gone := w.pair.Gone[mapping.Planning] > 0 && (found || w.pair.State != mapping.Orphaned || w.confirms())
	switch {
	case all.listed && found:
		w.found(mapping.Planning)
	case w.looked || all.listed || w.unbased() || inSlot && slot.Ambiguous || gone:
		return w.readTask()
	case found && inSlot && t.Version < w.pair.Card.Version:
		return w.readTask()
	case !found || t.Version < w.pair.Card.Version:
		return nil
	case mapping.Suspicious(w.pair.Base, mapping.TaskItemView(&t, w.set.Keys)):
		return w.readTask()
	}
	w.setTask(&t)
	if inSlot && w.echoed() {
		w.count(CountEchoes, string(mapping.Planning))
	}
	return nil
}

// readTask is readCard for a part's task.
func (w *work) readTask() error {
	t, err := do(w, ReadTask{w.pair.Card.ID})
	if err != nil {
		return w.missing(mapping.Planning, err)
	}
	w.found(mapping.Planning)
	w.wentBack(t.Version, 0)
	w.setTask(&t)
	return nil
}

// setTask makes a snapshot of a part's task the one that counts.
func (w *work) setTask(t *mapping.Task) {
	w.setCard(&mapping.Card{ID: t.ID, CID: t.CID, Version: t.Version, Title: t.Title, Summary: t.Summary, Estimate: t.Estimate})
	w.p[mapping.State] = t.State
}

// needTask is needCard for a part's task.
func (w *work) needTask() error {
	if t, ok := w.root.tasks.seen[w.pair.Card.ID]; ok {
		w.setTask(&t)
		return nil
	}
	return w.readTask()
}

// bornTodo is the first base of the state of a part: a new task is to do
// (planning-api.md part 3) and a new issue is open, so that whatever else the
// person's item shows is a change of that side.
func bornTodo(now mapping.Versioned) mapping.Base {
	base := mapping.Base{GitHub: mapping.StateTodo, Planning: mapping.StateTodo, Version: now.Version}
	if now.Value != "" && now.Value != mapping.StateTodo {
		base.Version--
	}
	return base
}

// accepts reports whether the issue is synchronised, and why not. A route's
// filter is about root links: a sub-issue only asks for the label that keeps it
// out.
func (w *work) accepts() (bool, string) {
	if w.pair.IsTask() {
		ignored := mapping.Route{}
		return ignored.Accepts(w.issue, w.set.Scheme)
	}
	return w.route.Accepts(w.issue, w.set.Scheme)
}

// mine reports whether an event about an item is for this work: a part's own
// are, and the root's are all others.
func (w *work) mine(item mapping.Ref) bool {
	p := w.link.Part(item)
	if w.pair.IsTask() {
		return p == w.pair
	}
	return p == nil
}
