package reconcile

import (
	"maps"
	"slices"
	"time"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// takeTasks matches the card's tasks with the checklist items. It finds the tasks that items wait
// for, tasks that are gone, and tasks that people made.
func (w lineTasks) takeTasks() {
	staying := w.link.Family.Staying()
	for _, t := range w.strangers() {
		m, marked := taskMaker(w).itemMark(&t)
		switch c := w.waitsFor(&t, m); {
		case c != nil && c.Nonce == m.Nonce:
			w.count(CountPrevented, "lookup")
			taskMaker(w).madeTask(c, &t, "found by its marker")
		case c != nil:
			w.join(c, &t)
		case staying[t.ID]:
		case marked && !w.knowsMarker(m):
			w.takeLost(&t, m)
		case w.tellsNew():
			w.takeNew(&t)
		}
	}
	for _, c := range w.items() {
		t, seen := w.tasks.seen[c.Card.ID]
		switch {
		case c.Card.ID == "":
		case w.tasks.listed && !seen, seen && w.elsewhere(&t):
			w.note(mapping.Planning, mapping.State, "lost", "task "+string(c.Card.ID)+" of its checklist is gone")
			w.happensTo(c, mapping.EventVanished)
			c.Card.ID, c.GoneSince, c.Base, c.Intent, c.Pending, c.InFlight = "", time.Time{}, nil, nil, nil, nil
		case seen && toBeAdded(c):
			c.Item, c.Intent.Base = mapping.CanonicalTitle(t.Title.Value), itemBase(&t)
		}
	}
}

func (w lineTasks) elsewhere(t *mapping.Task) bool { return t.Owner != "" && t.Owner != w.pair.Card.ID }

// strangers are the card's tasks, as far as they were seen, that belong to no item, in the
// order of their creation.
func (w lineTasks) strangers() []mapping.Task {
	return slices.DeleteFunc(w.tasks.inOrder(), func(t mapping.Task) bool {
		return w.elsewhere(&t) || slices.Contains(w.list.joined, t.ID) ||
			slices.ContainsFunc(w.link.Children, func(c *mapping.Pair) bool { return c.Card.ID == t.ID })
	})
}

// tellsNew reports whether the card's earlier tasks are recorded, so that any other task is a
// person's new one.
func (w lineTasks) tellsNew() bool { return w.link.Family.Tasks == w.route.Tasks }

// waitsFor returns the line that a task without a line is for; nil: none. The task was made for
// it, or has its text. A line whose own task may exist takes one without a marker, as people
// remove markers.
func (w lineTasks) waitsFor(t *mapping.Task, m mapping.Marker) *mapping.Pair {
	title := mapping.CanonicalTitle(t.Title.Value)
	var alike *mapping.Pair
	for _, c := range w.items() {
		switch {
		case c.State == mapping.Creating && !toBeAdded(c) && c.Nonce == m.Nonce:
			return c
		case alike != nil, c.Item == "", c.Item != title:
		case c.State == mapping.Orphaned, c.State == mapping.Creating && !toBeAdded(c) && (m == mapping.Marker{} || !c.Intent.Sent):
			alike = c
		}
	}
	return alike
}

// join gives a line the task that has its text. A person may have made the task.
func (w lineTasks) join(c *mapping.Pair, t *mapping.Task) {
	if m, marked := taskMaker(w).itemMark(t); marked && !w.knowsMarker(m) {
		c.Nonce = m.Nonce
	} else {
		c.Origin = mapping.Planning
	}
	e := mapping.EventCompleted
	if c.State == mapping.Orphaned {
		e = mapping.EventReappeared
	}
	w.happensTo(c, e)
	c.Card, c.Intent = mapping.NameTask(t), nil
	w.link.Family.Recall(t.ID)
	w.list.joined = append(w.list.joined, t.ID)
}

// takeLost makes a child of a task that was made for a line before the store was lost. The line
// may be gone. The marker says whether the task is of another kind.
func (w lineTasks) takeLost(t *mapping.Task, m mapping.Marker) {
	if m.Partner == itemPartner {
		w.addChild(mapping.EventLineless, &mapping.Pair{
			Kind: mapping.Checklist, Origin: mapping.GitHub, Nonce: m.Nonce, Item: mapping.CanonicalTitle(t.Title.Value), Card: mapping.NameTask(t),
		})
	}
}

// knowsMarker reports whether a marker belongs to a task that the link knows.
func (w lineTasks) knowsMarker(m mapping.Marker) bool {
	return slices.ContainsFunc(w.link.Children, func(c *mapping.Pair) bool { return c.Nonce == m.Nonce }) ||
		slices.ContainsFunc(w.link.Family.Forgotten, func(id mapping.ObjectID) bool {
			t := w.tasks.seen[id]
			its, ok := taskMaker(w).itemMark(&t)
			return ok && its.Nonce == m.Nonce
		})
}

// takeNew makes a child of a task that a person made, whose line is to be added.
func (w lineTasks) takeNew(t *mapping.Task) {
	title := mapping.CanonicalTitle(t.Title.Value)
	if title == "" || w.route.Direction == mapping.ToPlanning {
		return
	}
	w.addChild(mapping.EventWanted, &mapping.Pair{
		Kind: mapping.Checklist, Origin: mapping.Planning, Nonce: w.newNonce(w.link.Project), Item: title, Card: mapping.NameTask(t),
		Intent: &mapping.Intent{Side: mapping.GitHub, At: w.Now().UTC(), Base: itemBase(t)},
	})
}

// itemBase is the base of a task and its new line.
func itemBase(t *mapping.Task) map[mapping.Attribute]mapping.Base {
	base := map[mapping.Attribute]mapping.Base{}
	for a, v := range mapping.ItemTaskView(t) {
		base[a] = baseOf(v.Value, v)
	}
	return base
}

// lineWork is the work on a line and its task. It shares the views of the root's work.
func (w lineTasks) lineWork(c *mapping.Pair) work {
	lw := *w.state
	lw.root, lw.pair, lw.unmarked = w.state, c, ""
	lw.g, lw.p = nil, mapping.View{}
	if line, ok := w.list.lines[c]; ok {
		lw.g = mapping.ItemView(line)
	}
	if t, ok := w.tasks.seen[c.Card.ID]; ok {
		for a, v := range mapping.ItemTaskView(&t) {
			if w.tasks.listed || v.Version >= c.Base[a].Version { // else a poll that overlapped a write
				lw.p[a] = v
			}
		}
	}
	return work{&lw}
}

func (w lineTasks) writeList() (rest bool, err error) {
	if unsure := w.unsureOfTasks(); unsure && !w.tasks.listed {
		return false, cardTasks(w).needTasks()
	} else if unsure {
		w.recoverList()
		return false, nil
	}
	if slices.ContainsFunc(slices.Collect(maps.Values(w.list.plans)), func(p mapping.Plan) bool { return p.Writes(mapping.Planning) }) {
		if err := pacer(w).foldWrites(mapping.Planning); err != nil {
			return false, err
		}
		if err := pacer(w).stopRunaway(mapping.Summary, mapping.Planning); err != nil {
			return false, err
		}
		pacer(w).beginWrites(mapping.Planning)
	}
	if err := ledger(w).keepItems(func(d *mapping.Decision) bool { return d.GitHub == nil }); err != nil {
		return false, err
	}
	rest = true
	for _, c := range w.items() {
		plan := w.list.plans[c]
		moved, err := w.putTask(c, plan)
		if err != nil {
			return false, err
		}
		if moved {
			return false, cardTasks(w).needTasks()
		}
		rest = rest && !plan.Writes(mapping.Planning)
	}
	made, err := taskMaker(w).makeLineTasks()
	if made {
		pacer(w).beginWrites(mapping.Planning)
	}
	return rest && !made, err
}

// putTask carries out the writes of a pair's plan to planning, and records the decisions that
// need none.
func (w lineTasks) putTask(c *mapping.Pair, plan mapping.Plan) (moved bool, err error) {
	pw := w.lineWork(c)
	if moved, err = planningWriter(pw).write(plan); moved || err != nil {
		return moved, err
	}
	w.tookTask(c.Card.ID, pw)
	if plan.Writes(mapping.GitHub) {
		return false, nil
	}
	return false, ledger(pw).agreed(plan)
}

// tookTask records the answer to a write of a task.
func (w lineTasks) tookTask(id mapping.ObjectID, pw work) {
	t, ok := w.tasks.seen[id]
	if !ok {
		return
	}
	for a, v := range pw.p {
		switch {
		case a == mapping.Title && v.Version >= t.Title.Version:
			t.Title = v
		case a == mapping.State && v.Version > t.State.Version:
			t.State = v
		}
	}
	w.tasks.seen[id] = t
}

// unsureOfTasks reports whether the tasks have to be read. The outcome of a write is unknown, a
// task shows another value without a newer version, or a task had no line for a while.
func (w lineTasks) unsureOfTasks() bool {
	if w.rejoined && !w.tasks.listed {
		return true
	}
	for _, c := range w.items() {
		if len(c.Pending) > 0 || !w.tasks.listed && mapping.Suspicious(c.Base, w.lineWork(c).p) {
			return true
		}
	}
	return false
}

// recoverList finds out the outcome of writes to tasks that is unknown.
func (w lineTasks) recoverList() {
	for _, c := range w.items() {
		if len(c.Pending) == 0 {
			continue
		}
		pw := w.lineWork(c)
		journal.Expire(&pw.pair.Journal, w.Now())
		repairer(pw).recoverAll(nil, nil)
	}
}
