package reconcile

import (
	"errors"
	"fmt"
	"slices"

	"planbridge/mapping"
)

// An operator takes a pair apart. What the bridge made is taken off both items, and then
// the pair is parted. What is to go is what the items show now: a claim that ends halfway
// leaves less to the next one. Whatever people wrote, and each label that the bridge does
// not know for its own, stays.
//
// Each item is looked at by itself: one that is gone, or out of reach, has nothing to be taken
// off, and keeps nothing on the other one. A pair is done with once outcome.cleaned says why.
// A pair that came to its end without that is parked: it never waits without a word.

// unmade is done at once with a pair that is taken apart and has not two items yet. A create
// that may be under way is waited for: what it made is found and linked.
func unmade(w work) (verdict, error) {
	if !w.link.Cleaning || w.pair.State != mapping.Entering && w.pair.State != mapping.Creating {
		return pass, nil
	}
	w.cleaned = "it had not two items"
	taskOfPart := w.pair.IsTask() && w.pair.Intent != nil && w.pair.Intent.Side == mapping.Planning // its root has waited
	if w.pair.Intent == nil || !w.pair.Intent.Sent || taskOfPart {
		return end, nil
	}
	w.cleaned = ""
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

// clean takes off what the bridge made, one thing after the other. An edit that the write
// of a body ran over is brought back before the pair is parted.
func clean(w work) (verdict, error) {
	if !w.link.Cleaning {
		return pass, nil
	}
	c := cleaner(w)
	tasks, err := c.read()
	if err != nil {
		return end, err
	}
	if err := c.takeOff(c.marks(tasks)); err != nil {
		return end, err
	}
	if w.withheld != nil {
		return end, w.withheld
	}
	if waits := w.book().Waits(); len(waits) > 0 && w.issue != nil {
		return end, inTurn(waits[0].After, "%s", waits[0].Why)
	}
	w.cleaned = c.whyDone()
	return end, nil
}

// whyDone says what is left of a pair whose marks were taken off.
func (w cleaner) whyDone() string {
	switch {
	case w.pair.Away != "":
		return "its issue is in " + w.pair.Away + ", where nothing is taken off it"
	case !w.route.Writes(mapping.GitHub):
		return "its route does not write to GitHub, where nothing is taken off"
	case !w.route.Writes(mapping.Planning):
		return "its route does not write to planning, where nothing is taken off"
	case w.issue == nil || w.card == nil:
		return "one of its items is gone, and nothing of planbridge's is left on the other one"
	}
	return "nothing of planbridge's is left on it"
}

// takeOff takes marks off. That carries nobody's change, so that people's go first.
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

// reaches reports whether the pair's item on a side is there, as far as is known, and in reach.
func (w cleaner) reaches(side mapping.Side) bool {
	away := side == mapping.GitHub && w.pair.Away != ""
	return !away && (w.pair.State != mapping.Orphaned || w.pair.Gone[side] == 0)
}

// reachesBoth reports whether nothing is to be looked at by itself.
func (w cleaner) reachesBoth() bool { return w.reaches(mapping.GitHub) && w.reaches(mapping.Planning) }

// dropLost drops the records of writes to an item that is gone: nothing tells any more what
// became of them.
func (w cleaner) dropLost() {
	if w.reaches(mapping.Planning) {
		return
	}
	saver(w).unpend(mapping.Planning, w.pair.Partner())
	if child := w.trackingPair(); child != nil {
		saver(w).unpend(mapping.Planning, mapping.TaskRef(child.Card.ID))
	}
}

// cleanFamily goes on with the sub-issues of a root that is done with, and parts the pair; err
// is what became of the root.
func (w cleaner) cleanFamily(err error) error {
	if err := w.doneWith(err); err != nil {
		return err
	}
	for _, p := range w.link.Parts {
		pw := partWorker(w).part(p)
		intake(pw).takeEvents()
		_, err := pw.apply(preparationRules)
		if err != nil {
			err = mover(pw).readdress(err)
		}
		if err := cleaner(pw).doneWith(err); err != nil {
			return fmt.Errorf("%s: %w", where(p), err)
		}
	}
	w.happens(mapping.EventUnlinked)
	w.link.Cleaning, w.link.Parted, w.pair.Why = false, true, mapping.PartedWhy
	w.again, w.showAgain = revisit{}, revisit{}
	w.note("", "", "unlinked", w.cleaned)
	return nil
}

// doneWith is nil where nothing is left to be done about a pair that is taken apart, whose work
// ended with err.
func (w cleaner) doneWith(err error) error {
	switch {
	case err != nil || w.cleaned != "":
		return err
	case w.pair.State == mapping.Orphaned:
		return later(0, "one of its items is gone: the other one is looked at by itself")
	case w.set.DryRun:
		return parks("it is to be taken apart, and a dry run takes nothing off")
	}
	return parks("it cannot be taken apart: %s", w.pair.Why)
}

// read reads what there is of the pair's items, and the tasks of a card.
func (w cleaner) read() (tasks []mapping.Task, err error) {
	// Nobody is told that an item is gone of a pair that is parted.
	w.pair.Unconfirmed = false
	switch err := w.readIssue(); {
	case errors.Is(err, errGone):
		w.issue = nil
	case err != nil:
		return nil, err
	}
	switch err := reader(w).readCard(); {
	case errors.Is(err, errGone):
		w.card = nil
	case err != nil:
		return nil, err
	}
	if err := w.awaitTasks(); err != nil {
		return nil, err
	}
	return w.tasksOfCard()
}

func (w cleaner) readIssue() error {
	if w.pair.Away != "" {
		w.issue = nil
		return nil
	}
	return reader(w).fetch()
}

// awaitTasks waits for tasks of the card that may still be under way.
func (w cleaner) awaitTasks() error {
	for _, p := range slices.Concat(w.link.Children, w.link.Parts) {
		if i := p.Intent; i == nil || !i.Sent || i.Side != mapping.Planning {
			continue
		}
		if wait := w.set.Settle.Planning - w.since(p.Intent.At); wait > 0 {
			return later(wait, "a task of its card may still be under way")
		}
	}
	return nil
}

// tasksOfCard reads the tasks of the pair's card that are the bridge's, but those of its parts.
func (w cleaner) tasksOfCard() ([]mapping.Task, error) {
	if w.card == nil || w.pair.IsTask() {
		return nil, nil
	}
	tasks, err := do(w, ReadTasks{w.card.ID})
	if err != nil {
		return nil, onPlanning(fmt.Errorf("tasks of card %s: %w", w.card.ID, err))
	}
	return slices.DeleteFunc(slices.Clone(tasks), func(t mapping.Task) bool { return !w.madeTask(&t) }), nil
}

// madeTask reports whether the bridge made a task of the card for the link, whatever is known
// of it, and no part has it.
func (w cleaner) madeTask(t *mapping.Task) bool {
	if w.link.Part(mapping.TaskRef(t.ID)) != nil {
		return false
	}
	return slices.ContainsFunc(w.link.Children, func(c *mapping.Pair) bool { return c.Card.ID == t.ID }) ||
		slices.ContainsFunc(signer(w).marks(t.Summary.Value, mapping.MarkTask), func(m mapping.Marker) bool { return m.Link == w.link.ID })
}
