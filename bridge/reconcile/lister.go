package reconcile

import (
	"cmp"
	"slices"

	"planbridge/mapping"
)

// A checklist is handled in three steps. First the lines of the current body and the card's
// tasks are matched with the link's items (refreshList). Then each item is decided by itself
// (decideList); its changes of the body join the one write that the text and the items share
// (wholeBodies). Its changes in planning are written once the issue and its card agree
// (workList), so that no task delays them.

// refreshList matches the current lines and tasks with the checklist items.
func (w lister) refreshList() {
	w.list = list{plans: map[*mapping.Pair]mapping.Plan{}}
	lineTasks(w).takeTasks()
	if w.issue == nil {
		return
	}
	now := mapping.Items(w.body())
	was := w.items()
	known := make([]mapping.Line, len(was))
	for k, c := range was {
		known[k] = mapping.Line{Text: c.Item, To: cmp.Or(pendingName(c), w.tasks.seen[c.Card.ID].Title.Value), Away: c.State == mapping.Left || toBeAdded(c)}
	}
	var items []*mapping.Pair
	var lines []mapping.Item
	met, over, room := map[int]bool{}, map[int]bool{}, w.room()
	for i, k := range w.findLines(known, now) {
		var c *mapping.Pair
		switch {
		case k >= 0:
			met[k] = true
			c = w.lineFound(was[k], now[i])
		case room <= 0 && w.route.Direction != mapping.ToGitHub:
			over[now[i].At] = true
		default:
			if c = w.newItem(now[i]); c != nil {
				room--
			}
		}
		if c != nil {
			items, lines = append(items, c), append(lines, now[i])
		}
	}
	bodyEditor(w).leaveText(now, over)
	for k, c := range was {
		if !met[k] && w.lineMissing(c) {
			items = append(items, c)
		}
	}
	w.link.Children = slices.DeleteFunc(w.link.Children, func(c *mapping.Pair) bool { return c.Kind == mapping.Checklist })
	w.link.Children = append(w.link.Children, w.forgetLines(items)...)
	w.list.lines = map[*mapping.Pair]mapping.Item{}
	for i, c := range w.items()[:len(lines)] {
		w.list.lines[c] = lines[i]
	}
}

// toBeAdded reports whether a task's line has not been seen in the body yet.
func toBeAdded(c *mapping.Pair) bool {
	return c.Intent != nil && c.Intent.Side == mapping.GitHub
}

// pendingName is the text that a write of unknown outcome gives an item.
func pendingName(c *mapping.Pair) string {
	for _, p := range c.Pending {
		if p.Side == mapping.GitHub && p.Attribute == mapping.Title {
			return p.To
		}
	}
	return ""
}

// lineFound records that an item has a line.
func (w lister) lineFound(c *mapping.Pair, line mapping.Item) *mapping.Pair {
	switch {
	case toBeAdded(c):
		w.added(c)
	case c.State == mapping.Left:
		w.happensTo(c, mapping.EventReadmitted)
		w.rejoined = true
		w.note(mapping.GitHub, mapping.Title, "back", "the line of task "+string(c.Card.ID)+" is there again")
	}
	if to := pendingName(c); to != "" && itemName(line) == mapping.CanonicalTitle(to) {
		w.wroteItem(c)
	}
	w.forgetItem(c)
	c.Item = itemName(line)
	return c
}

func itemName(line mapping.Item) string { return mapping.ItemView(line)[mapping.Title].Value }

// lineMissing records that an item has no line, and reports whether the item is kept. Planning
// cannot delete the task, so it stays. The line is not written again: somebody removed it.
func (w lister) lineMissing(c *mapping.Pair) bool {
	w.forgetItem(c)
	switch {
	case c.State == mapping.Orphaned, c.State == mapping.Creating && !toBeAdded(c) && !c.Intent.Sent:
		return false
	case c.State == mapping.Linked:
		w.happensTo(c, mapping.EventExcluded)
		w.note(mapping.GitHub, mapping.Title, "left", "the line of task "+string(c.Card.ID)+" was removed; planning cannot delete the task")
	}
	return true
}

// newItem makes a child of an unknown line. Its task is one of the card's with the same text, or is
// to be made.
func (w lister) newItem(line mapping.Item) *mapping.Pair {
	c := &mapping.Pair{Kind: mapping.Checklist, Origin: mapping.GitHub, Nonce: w.newNonce(w.link.Project), Item: itemName(line)}
	w.happensTo(c, mapping.EventWanted)
	c.Intent = &mapping.Intent{Side: mapping.Planning}
	for _, t := range lineTasks(w).strangers() {
		if mapping.CanonicalTitle(t.Title.Value) == c.Item {
			lineTasks(w).join(c, &t)
			return c
		}
	}
	if w.route.Direction == mapping.ToGitHub {
		return nil
	}
	return c
}

// decideList decides about each line and its task, and returns the resulting changes of the
// body.
func (w lister) decideList() ([]mapping.Item, error) {
	if !w.lists() {
		return nil, nil
	}
	var changes []mapping.Item
	if known := w.list.lines != nil; !known && !w.link.Family.Listed {
		changes = append(changes, mapping.Item{}) // earlier tasks may have the texts of lines
	} else if known {
		w.link.Family.Listed = true
	}
	for _, c := range w.items() {
		line, there := w.list.lines[c]
		switch {
		case toBeAdded(c) && w.list.lines != nil:
			changes = append(changes, mapping.Item{Text: mapping.ItemText(c.Item, ""), Checked: c.Intent.Base[mapping.State].GitHub == mapping.StateDone})
		case c.State == mapping.Linked && (there || w.list.lines == nil):
			if (len(c.InFlight) > 0 || len(c.Base) == 0) && w.issue == nil {
				changes = append(changes, mapping.Item{}) // GitHub may have moved on since that write
				continue
			}
			pw := lineTasks(w).lineWork(c)
			if !w.tasks.listed && mapping.Suspicious(pw.pair.Base, pw.p) {
				continue // its task is read first
			}
			plan, err := decider(pw).decideItem()
			if err != nil {
				return nil, err
			}
			w.list.plans[c] = plan
			if plan.Writes(mapping.GitHub) && there {
				changes = append(changes, changedItem(line, plan))
			} else if plan.Writes(mapping.GitHub) {
				changes = append(changes, mapping.Item{}) // in any case the issue has to be read
			}
		case toBeAdded(c):
			changes = append(changes, mapping.Item{})
		}
	}
	return changes, nil
}

// changedItem is a line with its plan's changes.
func changedItem(line mapping.Item, plan mapping.Plan) mapping.Item {
	for _, d := range plan.Decisions {
		switch {
		case d.GitHub == nil:
		case d.Attribute == mapping.Title:
			line.Text = mapping.ItemText(d.GitHub.To, line.Text)
		case d.Attribute == mapping.State:
			line.Checked = d.GitHub.To == mapping.StateDone
		}
	}
	return line
}

// pendItems records which items the next write of the body changes. Records of an earlier
// write that did not take effect are dropped.
func (w lister) pendItems() {
	for _, c := range w.items() {
		w.forgetItem(c)
		if toBeAdded(c) && w.list.lines != nil {
			c.Intent.Sent = true
		}
		for _, d := range w.list.plans[c].Decisions {
			if d.GitHub != nil {
				c.Pending = append(c.Pending, mapping.Pending{
					Side: mapping.GitHub, Item: mapping.TaskRef(c.Card.ID), Attribute: d.Attribute, From: d.GitHub.From, To: d.GitHub.To, Next: d.Base,
				})
			}
		}
	}
}

// wroteItems records that the body was written with all its items.
func (w lister) wroteItems() {
	for _, c := range w.items() {
		if toBeAdded(c) && c.Intent.Sent {
			w.added(c)
		}
		w.wroteItem(c)
	}
}

func (w lister) wroteItem(c *mapping.Pair) {
	for _, p := range c.Pending {
		if p.Side == mapping.GitHub {
			c.SetBase(p.Attribute, p.Next)
			w.notePart(string(mapping.Checklist), mapping.GitHub, p.Attribute, "write", "its task "+string(c.Card.ID)+" changed")
			if p.Attribute == mapping.Title {
				c.Item = mapping.CanonicalTitle(p.To)
			}
		}
	}
	w.forgetItem(c)
}

// added records that the line of a task was written.
func (w lister) added(c *mapping.Pair) {
	w.happensTo(c, mapping.EventCompleted)
	c.Base, c.Intent = c.Intent.Base, nil
	w.notePart(string(mapping.Checklist), mapping.GitHub, mapping.Title, "create", "a line for task "+string(c.Card.ID))
}

// forgetItem drops the records of writes to a line whose outcome is known.
func (w lister) forgetItem(c *mapping.Pair) {
	c.Pending = slices.DeleteFunc(c.Pending, func(p mapping.Pending) bool { return p.Side == mapping.GitHub })
	if toBeAdded(c) {
		c.Intent.Sent = false
	}
}

// itemOfTask is the checklist item of a task, after both sides were read; nil: there is none.
func (w lister) itemOfTask(task mapping.ObjectID) (item *mapping.Pair, err error) {
	if err := cardTasks(w).readTasks(); err != nil {
		return nil, err
	}
	w.refreshList()
	for _, known := range w.items() {
		if known.Card.ID == task && known.State == mapping.Linked {
			item = known
		}
	}
	return item, nil
}
