package reconcile

import (
	"errors"
	"fmt"
	"slices"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// An operator takes a pair apart: the bridge's marks are taken off both items, then the pair
// is parted. The items themselves say what is left to remove, so that an interrupted claim
// leaves less work to the next one. Texts of people stay, and so does each label that the
// bridge cannot prove to be its own.
//
// Each item is handled by itself. An item that is gone or out of reach needs no cleaning, and does
// not block the other one. The field outcome.cleaned says why a pair is done. A pair that ends
// without that reason is parked, so that it never waits silently.

// unmade finishes a pair that does not have two items yet. A create that may be under way is
// awaited: its item is found and linked first.
func unmade(w work) (verdict, error) {
	if w.pair.State != mapping.Entering && w.pair.State != mapping.Creating {
		return pass, nil
	}
	i := w.pair.Intent
	if i == nil || !i.Sent || w.pair.IsTask() && i.Side == mapping.Planning { // its root has waited for tasks
		w.cleaned = "it had not two items"
		return end, nil
	}
	if err := exclusivity(w).requireAdoption(); err != nil {
		return end, err
	}
	absent, err := creator(w).partner().absent([]*want{creator(w).wanted()})
	if err != nil || len(absent) == 0 {
		return pass, err
	}
	w.cleaned = "its partner was not made"
	return end, nil
}

// readItems reads the pair's items. An item that is gone or out of reach is nil afterwards.
func (w cleaner) readItems() error {
	w.pair.Unconfirmed = false // a gone item of a parted pair is not reported
	var err error
	if w.pair.Away == "" {
		err = reader(w).readIssue()
	}
	if w.pair.Away != "" || errors.Is(err, errGone) {
		w.issue, err = nil, nil
	}
	if err != nil {
		return err
	}
	if err = reader(w).readCard(); errors.Is(err, errGone) {
		w.card, err = nil, nil
	}
	return err
}

// MayOweText reports whether a write of the bridge to an issue of the link may have run over a
// person's text. That text is still to be restored then.
func MayOweText(l *mapping.Link) bool {
	return l.State != mapping.Erased && slices.ContainsFunc(l.All(), func(p *mapping.Pair) bool { return journal.Open(&p.Journal) })
}

// mayOweText is MayOweText where the text can be restored.
func (w cleaner) mayOweText() bool {
	return w.route != nil && w.served && !w.set.DryRun && MayOweText(w.link)
}

// bringBack restores edits that our writes to the issue ran over. Writes to an item that is gone
// are forgotten, as their outcome can no longer be found out.
func (w cleaner) bringBack() error {
	if w.issue == nil {
		journal.ForgetIssue(&w.pair.Journal)
		return nil
	}
	if w.card == nil {
		saver(w).unpend(mapping.Planning, w.pair.Partner())
	}
	if child := w.trackingPair(); w.card == nil && child != nil {
		saver(w).unpend(mapping.Planning, mapping.TaskRef(child.Card.ID))
	}
	return repairer(w).verifyWrites()
}

// clean removes the bridge's marks one by one. A pair with an edit that is still to be
// restored is not finished.
func (w cleaner) clean() error {
	if w.link.Cleaning {
		if _, err := w.takeAllOff(); err != nil {
			return err
		}
	}
	if w.withheld != nil {
		return w.withheld
	}
	if waits := w.book().Waits(); len(waits) > 0 && w.issue != nil {
		return inTurn(waits[0].After, "%s", waits[0].Why)
	}
	w.cleaned, w.nothingLeft = w.whyDone()
	return nil
}

// takeAllOff removes the marks on a pair's items, and reports whether there were any.
func (w cleaner) takeAllOff() (took bool, err error) {
	if err := w.awaitTasks(); err != nil {
		return false, err
	}
	tasks, err := w.tasksOfCard()
	if err != nil {
		return false, err
	}
	marks := w.marks(tasks)
	return len(marks) > 0, w.takeOff(marks)
}

// whyDone says in which state a cleaned pair was left. nothingLeft: its two items have nothing of
// the bridge's.
func (w cleaner) whyDone() (why string, nothingLeft bool) {
	switch {
	case w.pair.Away != "":
		return "its issue is in " + w.pair.Away + ", where nothing is taken off it", false
	case !w.route.Writes(mapping.GitHub):
		return "its route does not write to GitHub, where nothing is taken off", false
	case !w.route.Writes(mapping.Planning):
		return "its route does not write to planning, where nothing is taken off", false
	case w.issue == nil || w.card == nil:
		return "one of its items is gone, and nothing of planbridge's is left on the other one", false
	}
	return "nothing of planbridge's is left on it", true
}

// takeOff removes marks. These writes carry no person's change, so that people's writes go
// first.
func (w cleaner) takeOff(marks []mark) error {
	defer w.showing(true)()
	for _, m := range marks {
		switch took, err := m.off(); {
		case err != nil:
			return err
		case took:
			w.note(m.Side, "", mapping.Cleaned, m.What)
		}
	}
	return nil
}

// cleanFamily cleans the sub-issues of a finished root, and then parts the pair. err is the
// result of the root.
func (w cleaner) cleanFamily(err error) error {
	if err := w.doneWith(err); err != nil {
		return err
	}
	clean := w.nothingLeft
	for _, p := range w.link.SubLinks {
		pw := partWorker(w).part(p)
		intake(pw).takeEvents()
		err := mover(pw).readdress(pw.runRules())
		if err := cleaner(pw).doneWith(err); err != nil {
			return fmt.Errorf("%s: %w", where(p), err)
		}
		clean = clean && pw.nothingLeft
	}
	if err := ledger(w).partQuestions(); err != nil {
		return err
	}
	w.again, w.showAgain = revisit{}, revisit{}
	if w.link.Parted {
		return nil
	}
	w.happens(mapping.EventUnlinked)
	w.link.Cleaning, w.link.Parted, w.link.Clean, w.pair.Why = false, true, clean, mapping.PartedWhy
	w.note("", "", "unlinked", w.cleaned)
	return nil
}

// doneWith returns nil where nothing is left to clean on a pair whose work ended with err.
// Where an item vanished meanwhile, the other one is cleaned once more.
func (w cleaner) doneWith(err error) error {
	if gone := w.pair.State == mapping.Orphaned || w.pair.State == mapping.Left && w.pair.Away != ""; gone && err == nil && w.cleaned == "" {
		_, err = work(w).apply(cleaningRules)
	}
	switch {
	case err != nil || w.cleaned != "":
		return err
	case w.set.DryRun:
		return parks("it is to be taken apart, and a dry run takes nothing off")
	}
	return parks("it cannot be taken apart: %s", w.pair.Why)
}

// awaitTasks waits for creates of the card's tasks that may still be under way.
func (w cleaner) awaitTasks() error {
	for _, p := range slices.Concat(w.link.Children, w.link.SubLinks) {
		if i := p.Intent; i == nil || !i.Sent || i.Side != mapping.Planning {
			continue
		}
		if wait := w.set.Settle.Planning - w.since(p.Intent.At); wait > 0 {
			return later(wait, "a task of its card may still be under way")
		}
	}
	return nil
}

// tasksOfCard reads the tasks of the card that the bridge made, without those of sub-issues.
func (w cleaner) tasksOfCard() ([]mapping.Task, error) {
	if w.card == nil || w.pair.IsTask() {
		return nil, nil
	}
	tasks, err := cardTasks(w).askTasks()
	return slices.DeleteFunc(tasks, func(t mapping.Task) bool { return !w.madeTask(&t) }), err
}

// madeTask reports whether the bridge made a task of the card for this link, recorded or not,
// and no sub-issue has it.
func (w cleaner) madeTask(t *mapping.Task) bool {
	if w.link.Part(mapping.TaskRef(t.ID)) != nil {
		return false
	}
	return slices.ContainsFunc(w.link.Children, func(c *mapping.Pair) bool { return c.Card.ID == t.ID }) ||
		slices.ContainsFunc(signer(w).marks(t.Summary.Value, mapping.MarkTask), func(m mapping.Marker) bool { return m.Link == w.link.ID })
}
