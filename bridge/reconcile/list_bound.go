package reconcile

import (
	"fmt"
	"math"
	"slices"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// A card has a bound on its tasks (tasks_per_card), as planning cannot delete one. A line
// beyond the bound is text of the summary, in planning and in the body, and stays text. For
// each body that is still needed, the link records which lines are items, so that both sides
// compare the same text. An item with a task keeps it wherever its line moves. A removed line
// leaves its task, so that it makes no room.

// room is how many more tasks the link's card may get. Tasks that the bridge made or linked count,
// except the tracking task.
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

// findLines is mapping.FindLines, but a line that was text in the base never counts as a
// renamed item.
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

// forgetLines drops the items whose lines were removed longest ago, beyond the bound. Their
// tasks stay in planning, which cannot delete them, and their ids are recorded. Such a task
// gets no line by itself and counts among the card's tasks. A line with the same text gets it
// back. An item with something under way, or with an open question, stays.
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
		w.note("", mapping.Title, "forgotten", mapping.Count(len(forgotten), "line that was", "lines that were")+fmt.Sprintf(" removed before the latest %d; the tasks stay", mapping.MaxRemovedLines))
	}
	return items
}

// isBusy reports whether an item has something under way, or an open question.
func isBusy(c *mapping.Pair, now time.Time) bool {
	late := func(p mapping.Pending) bool { return journal.MayLand(p, now) }
	return c.Intent != nil || len(c.Pending)+len(c.Questions())+len(c.Undo) > 0 || slices.ContainsFunc(c.InFlight, late)
}

// tellFull reports once that a card has as many tasks as it may have, and how further ones are
// handled.
func (w lister) tellFull(full bool, what string) {
	if full && !w.link.Family.Full {
		w.log.Warn("a card has as many tasks as tasks_per_card allows: "+what, "card", w.pair.Card.ID, "tasks_per_card", w.route.TasksPerCard)
		w.note(mapping.Planning, "", "full", "its card has as many tasks as tasks_per_card allows: "+what)
	}
	w.link.Family.Full = full
}

// roomWait is when a sub-issue that waits for room on its card is handled again.
const roomWait = 10 * time.Minute

// whyFull is the reason of a sub-issue that waits for room.
const whyFull = "its parent's card has as many tasks as tasks_per_card allows"
