package reconcile

import (
	"fmt"
	"math"
	"slices"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// A card has a bound on its tasks (tasks_per_card), as planning cannot delete one.
// A line beyond it is text of the summary, in planning and in the body, and stays
// text while it stands there: which lines are items is remembered of each body
// that is still needed, so that both sides' texts are always those of the same
// lines. An item that has a task keeps it, wherever its line moves to. A line that
// is removed leaves its task, so that it makes no room.

// room is how many tasks the link's card may still get: of its tasks those count
// that the bridge made or linked, its tracking task apart.
func (w lister) room() int {
	if w.route.TasksPerCard <= 0 {
		return math.MaxInt
	}
	root := w.link
	n := len(root.Family.Forgotten)
	for _, c := range root.Children {
		if c.Kind == mapping.Checklist && (c.Card.ID != "" || c.Intent != nil && c.Intent.Side == mapping.Planning) {
			n++
		}
	}
	for _, p := range root.SubLinks {
		if p.Card.ID != "" || p.Intent != nil && p.Intent.Side == mapping.Planning && p.Intent.Sent {
			n++
		}
	}
	return w.route.TasksPerCard - n
}

// findLines is mapping.FindLines, but that lines which were text when the sides
// last agreed are never taken for a known item with another name.
func (w lister) findLines(known []mapping.Line, now []mapping.Item) []int {
	plain := w.link.PlainLines(now)
	var others []mapping.Item
	var places []int
	found := make([]int, len(now))
	for i, item := range now {
		if found[i] = -1; !plain[i] {
			others, places = append(others, item), append(places, i)
		}
	}
	for o, k := range mapping.FindLines(known, others) {
		found[places[o]] = k
	}
	return found
}

// forgetLines returns the items but those whose lines were removed longest ago, beyond the
// bound. Their tasks stay in planning, as it cannot delete one, and are remembered: none
// gets a line by itself, each counts among the card's tasks, and a line that says the same
// stands for it again. What is under way or asked about an item keeps it.
func (w lister) forgetLines(items []*mapping.Pair) []*mapping.Pair {
	var forgotten []mapping.ObjectID
	removed := 0
	items = slices.DeleteFunc(items, func(c *mapping.Pair) bool { // the latest come first
		if c.State != mapping.Left || c.Card.ID == "" || isBusy(c, w.Now()) {
			return false
		}
		if removed++; removed <= mapping.MaxRemovedLines {
			return false
		}
		forgotten = append(forgotten, c.Card.ID)
		return true
	})
	if len(forgotten) > 0 {
		w.link.Family.Forget(forgotten)
		w.note("", mapping.Title, "forgotten", fmt.Sprintf("%d lines that were removed before the latest %d; their tasks stay", len(forgotten), mapping.MaxRemovedLines))
	}
	return items
}

// isBusy reports whether something about an item is under way or asked.
func isBusy(c *mapping.Pair, now time.Time) bool {
	late := func(p mapping.Pending) bool { return journal.MayLand(p, now) }
	return c.Intent != nil || len(c.Pending)+len(c.Asking)+len(c.Undo) > 0 || slices.ContainsFunc(c.InFlight, late)
}

// tellFull tells an operator once that a card has as many tasks as it may have,
// and what becomes of more.
func (w lister) tellFull(full bool, what string) {
	if full && !w.link.Family.Full {
		w.log.Warn("a card has as many tasks as tasks_per_card allows: "+what, "card", w.pair.Card.ID, "tasks_per_card", w.route.TasksPerCard)
		w.note(mapping.Planning, "", "full", "its card has as many tasks as tasks_per_card allows: "+what)
	}
	w.link.Family.Full = full
}

// roomWait is when a sub-issue that waits for room on its card is looked at again.
const roomWait = 10 * time.Minute

// whyFull is shown of a sub-issue that waits for room.
const whyFull = "its parent's card has as many tasks as tasks_per_card allows"
