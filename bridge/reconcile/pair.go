package reconcile

import (
	"fmt"
	"maps"
	"slices"

	"planbridge/bridge/reconcile/journal"
	"planbridge/mapping"
)

// lineWork is the work on a line and its task. It sees what the work on the root has seen.
func (w *work) lineWork(c *mapping.Pair) *work {
	lw := *w
	lw.root, lw.pair, lw.unmarked = w, c, ""
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
	return &lw
}

// decide is resolve for a pair.
func (w *work) decide() (mapping.Plan, error) {
	if err := w.recoverLate(); err != nil {
		return mapping.Plan{}, err
	}
	plan, err := w.resolve()
	for i := range plan.Decisions {
		d := &plan.Decisions[i]
		if d.Attribute != mapping.Title || d.GitHub == nil {
			continue
		}
		// An item is as long as it likes; it cannot be without words.
		whole := w.p[mapping.Title].Value
		if mapping.Same(mapping.Title, d.GitHub.To, mapping.CutTitle(whole)) {
			d.GitHub.To, d.Base.GitHub = whole, whole
		}
		if mapping.CanonicalTitle(d.GitHub.To) == "" {
			d.Action, d.Why, d.GitHub, d.Loses = mapping.Blocked, "an item cannot be without words", nil, false
		}
	}
	return plan, err
}

// keepItems is keepLosers for the values of pairs that are written to a side, or
// left standing.
func (w *work) keepItems(written func(*mapping.Decision) bool) error {
	for _, c := range w.items() {
		var lose mapping.Plan
		for _, d := range w.list.plans[c].Decisions {
			if d.Loses && written(&d) {
				lose.Decisions = append(lose.Decisions, d)
			}
		}
		if len(lose.Decisions) == 0 {
			continue
		}
		if err := w.needBoth(); err != nil {
			return err
		}
		if err := w.lineWork(c).keepLosers(lose); err != nil {
			return err
		}
	}
	return nil
}

// workList writes to planning what the checklist changes there, once issue and
// card agree. What fails is kept for the end: it is no fault of the issue or the card.
func workList(w *work) (verdict, error) {
	if !w.lists() || w.listErr != nil {
		return pass, nil
	}
	rest, err := w.writeList()
	if lostLease(err) {
		return end, err
	}
	if err != nil {
		w.listErr = fmt.Errorf("checklist: %w", err)
		return pass, nil
	}
	return anewIf(!rest, nil)
}

func (w *work) writeList() (rest bool, err error) {
	if unsure := w.unsureOfTasks(); unsure && !w.tasks.listed {
		return false, w.needTasks()
	} else if unsure {
		w.recoverList()
		return false, nil
	}
	if slices.ContainsFunc(slices.Collect(maps.Values(w.list.plans)), func(p mapping.Plan) bool { return p.Writes(mapping.Planning) }) {
		if err := w.foldPlan(mapping.Planning); err != nil {
			return false, err
		}
		if err := w.pace(mapping.Summary, mapping.Planning); err != nil {
			return false, err
		}
		w.beginWrites(mapping.Planning)
	}
	if err := w.keepItems(func(d *mapping.Decision) bool { return d.GitHub == nil }); err != nil {
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
			return false, w.needTasks()
		}
		rest = rest && !plan.Writes(mapping.Planning)
	}
	made, err := w.makeLineTasks()
	if made {
		w.beginWrites(mapping.Planning)
	}
	return rest && !made, err
}

// putTask makes the writes of a pair's plan to planning, and takes over what
// needs none.
func (w *work) putTask(c *mapping.Pair, plan mapping.Plan) (moved bool, err error) {
	pw := w.lineWork(c)
	var ds []mapping.Decision
	for _, d := range plan.Decisions {
		if d.Planning != nil {
			ds = append(ds, d)
		}
	}
	if len(ds) > 0 {
		moved, err = pw.put(mapping.TaskRef(c.Card.ID), ds, func(user string, set map[mapping.Attribute]mapping.Versioned) (Updated, error) {
			return do(w, UpdateTask{c.Card.ID, user, w.route.Images, set})
		})
		if moved || err != nil {
			return moved, err
		}
		w.tookTask(c.Card.ID, pw)
	}
	for _, d := range plan.Decisions {
		if d.GitHub != nil {
			return false, nil
		}
	}
	return false, pw.agreed(plan)
}

// tookTask takes in what a write answered about a task.
func (w *work) tookTask(id mapping.ObjectID, pw *work) {
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

// unsureOfTasks reports that the tasks have to be read: what became of a write to
// one is not known, one shows another value without a newer version, or was not
// looked at while it had no line.
func (w *work) unsureOfTasks() bool {
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

// recoverList finds out what became of writes to tasks whose outcome is not
// known.
func (w *work) recoverList() {
	for _, c := range w.items() {
		if len(c.Pending) == 0 {
			continue
		}
		pw := w.lineWork(c)
		journal.Expire(&pw.pair.Journal, w.Now())
		pw.recoverAll(nil, nil)
	}
}
