package reconcile

import (
	"errors"

	"planbridge/mapping"
)

// tryTasks reads the card's tasks, unless that went wrong a moment ago. Where they
// cannot be read, issue and card stay the same all the same: the tracking task is
// read by itself, and the others are looked at again after a while.
func (w *work) tryTasks(tracking *mapping.Pair) error {
	name := "the tasks of cards of project " + string(w.link.Project)
	wait, why := w.pauseLeft(name)
	if wait <= 0 {
		err := w.readTasks(tracking)
		var side *sideError
		if err == nil {
			w.pauseOver(name)
			return nil
		}
		if w.over() || !errors.As(err, &side) {
			return err
		}
		var news bool
		why = name + " cannot be read: " + err.Error()
		if wait, news = w.pauseAfter(name, why, brokenFirst, brokenMost); news {
			w.log.Warn("cannot be read; to be tried again", "what", name, "after", wait, "err", err)
		}
	}
	w.lookAgain(wait+w.jitter(wait/4), why)
	w.unread, w.counters = true, w.pair.Card.CountersVersion
	if tracking != nil {
		return w.readTracking(tracking)
	}
	return nil
}

// needTasks reads the card's tasks for what cannot go on without.
func (w *work) needTasks() error {
	w.tasks.listed = false
	err := w.readTasks(w.tracking())
	if err == nil && !w.tasks.listed {
		return later(brokenMost, "the card's tasks cannot be read")
	}
	return err
}
