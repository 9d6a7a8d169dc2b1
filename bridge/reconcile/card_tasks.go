package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
)

// refreshTasks collects the card's tasks: from snapshots of single tasks, and from those that
// came nested in the card. It reads all of them where the card's counters moved by more than
// these snapshots and our own writes explain. The tracking task's state comes from there.
func (w cardTasks) refreshTasks() error {
	w.tasks = tasks{seen: map[mapping.ObjectID]mapping.Task{}}
	child := w.tracking()
	if child == nil && !w.route.HasTasks() || w.pair.Card.ID == "" {
		return nil
	}
	unsure := false
	for _, t := range allSeen[mapping.Task](w.claimState) {
		w.tasks.keepNewest(t)
		ambiguous := w.claim.Inbox[mapping.TaskRef(t.ID)].Ambiguous
		unsure = unsure || freshness(w).itemWentBack(&t) || child != nil && child.Card.ID == t.ID && (ambiguous || mapping.Suspicious(w.pair.Base, mapping.TaskView(&t)))
	}
	moved := w.card != nil && w.card.CountersVersion-w.pair.Card.CountersVersion != w.explained()
	if w.card != nil {
		w.counters = w.card.CountersVersion
		for _, t := range w.card.Tasks {
			w.tasks.keepNewest(t)
		}
		w.tasks.whole = len(w.card.Tasks) > 0
	}
	if w.mustRead || unsure || moved && !w.tasks.whole || w.route.HasTasks() && w.link.Family.Tasks != w.route.Tasks {
		if err := w.tryTasks(); err != nil {
			return err
		}
	}
	w.knowOld()
	return w.refreshTracking()
}

// knowOld records the tasks that the card had before its route began to synchronise tasks.
// They stay plain tasks. A link that has just entered has none (see beginCreate).
func (w cardTasks) knowOld() {
	f := &w.link.Family
	if f.Tasks == w.route.Tasks || !w.tasks.whole {
		return
	}
	for _, t := range w.tasks.inOrder() {
		_, marks := w.set.Keys.Body(t.Summary.Value)
		if _, known := w.taskBase(t.ID); !known && len(marks) == 0 && !slices.Contains(f.Old, t.ID) {
			f.Old = append(f.Old, t.ID)
		}
	}
	f.Tasks = w.route.Tasks
}

// explained is by how much the snapshots of single tasks account for a change of the card's
// counters. Each new task, and each change of a state, adds one (observed in real data).
func (w cardTasks) explained() (n int64) {
	for id, t := range w.tasks.seen {
		if base, ok := w.taskBase(id); !ok {
			n += 1 + t.State.Version
		} else {
			n += max(0, t.State.Version-base.Version)
		}
	}
	return n
}

// taskBase returns the base of the state of a task that belongs to the link.
func (w cardTasks) taskBase(id mapping.ObjectID) (mapping.Base, bool) {
	if p := w.link.Part(mapping.TaskRef(id)); p != nil {
		return p.Base[mapping.State], true
	}
	for _, c := range w.link.Children {
		switch {
		case c.Card.ID != id:
		case c.Kind == mapping.Tracking:
			return w.pair.Base[mapping.State], true
		default:
			return c.Base[mapping.State], true
		}
	}
	return mapping.Base{}, false
}

// askTasks asks planning for all tasks of the card.
func (w cardTasks) askTasks() ([]mapping.Task, error) {
	read, err := do(w, ReadTasks{w.pair.Card.ID})
	if err != nil {
		return nil, onPlanning(fmt.Errorf("tasks of card %s: %w", w.pair.Card.ID, err))
	}
	return slices.Clone(read), nil
}

// readTasks reads all tasks of the card.
func (w cardTasks) readTasks() error {
	read, err := w.askTasks()
	if IsGone(err) { // of the card, or only of this reading of it
		return w.readTracking()
	}
	if err != nil {
		return err
	}
	w.tasks = tasks{seen: map[mapping.ObjectID]mapping.Task{}, whole: true, listed: true}
	for _, t := range read {
		w.tasks.keepNewest(t)
	}
	w.countersKnown()
	return w.readMissed()
}

// countersKnown accepts the card's counters after its tasks were read. Where our own writes
// moved them less than expected, the next change counts from their actual value.
func (w cardTasks) countersKnown() {
	if w.card != nil {
		w.pair.Card.CountersVersion = min(w.pair.Card.CountersVersion, w.card.CountersVersion)
	}
}

// refreshTracking takes the state from its tracking task.
func (w cardTasks) refreshTracking() error {
	child := w.tracking()
	if child == nil {
		return nil
	}
	t, found := w.tasks.seen[child.Card.ID]
	switch {
	case w.tasks.listed && found:
		absences(w).noteTaskFound(child)
		w.p[mapping.State] = t.State
	case w.tasks.listed:
		return w.readTracking() // it is gone, or on another card
	case found && t.State.Version >= w.pair.Base[mapping.State].Version:
		w.p[mapping.State] = t.State
	}
	return nil
}

// readTracking reads the tracking task itself, where the route keeps one.
func (w cardTasks) readTracking() error {
	child := w.tracking()
	if child == nil {
		return nil
	}
	task, gone, err := w.readChild(child)
	switch {
	case err != nil:
		return err
	case gone:
		w.note(mapping.Planning, mapping.State, "lost", "its tracking task is gone")
		w.happensTo(child, mapping.EventVanished)
		child.GoneSince = time.Time{}
		delete(w.pair.Base, mapping.State)
		delete(w.p, mapping.State)
		return nil
	}
	w.p[mapping.State] = task.State
	w.countersKnown()
	return nil
}

// readChild reads the task of one of the card's children, or proves that it is gone.
func (w cardTasks) readChild(c *mapping.Pair) (task mapping.Task, gone bool, err error) {
	task, err = do(w, ReadTask{c.Card.ID})
	if IsGone(err) {
		err = absences(w).taskGone(c)
		return task, err == nil, err
	}
	if err == nil {
		absences(w).noteTaskFound(c)
	}
	return task, false, onPlanning(err)
}

// tryTasks reads the card's tasks, unless that failed a moment ago. A failure does not keep the
// issue and its card from agreeing. The tracking task is read by itself, and the other tasks are
// read after a while.
func (w cardTasks) tryTasks() error {
	name := "the tasks of cards of project " + string(w.link.Project)
	if !pauses(w).isPaused(name) {
		err := w.readTasks()
		switch {
		case err == nil:
			send(w, PauseOver{name})
			return nil
		case w.over() || !errors.As(err, new(*sideError)):
			return err
		}
		pauses(w).putOff(name, "read", err, brokenFirst, brokenMost)
	}
	w.unread, w.counters = true, w.pair.Card.CountersVersion
	return w.readTracking()
}

// needTasks reads the card's tasks for a caller that cannot go on without them.
func (w cardTasks) needTasks() error {
	w.tasks.listed = false
	err := w.readTasks()
	if err == nil && !w.tasks.listed {
		return later(brokenMost, "the card's tasks cannot be read")
	}
	return err
}

// readMissed reads the tasks of items that the listing of the card's tasks lacks. The listing
// may be incomplete, so that only the task itself can say that it is gone.
func (w cardTasks) readMissed() error {
	for _, c := range w.items() {
		if _, listed := w.tasks.seen[c.Card.ID]; listed || c.Card.ID == "" {
			continue
		}
		t, gone, err := w.readChild(c)
		if err != nil {
			return err
		}
		if !gone {
			w.tasks.keepNewest(t)
		}
	}
	return nil
}
