package reconcile

import (
	"cmp"
	"errors"
	"maps"

	"planbridge/mapping"
)

// undo asks the rules again where it changed something, or its reads showed something else.
func undo(w work) (verdict, error) {
	hub, plan := maps.Clone(w.g), maps.Clone(w.p)
	asked, err := ledger(w).undo()
	return anewIf(asked || !maps.Equal(hub, w.g) || !maps.Equal(plan, w.p), err)
}

// undo restores the losers that an operator asked for. Each is written to the side it came
// from, like a person's edit there, and then crosses as an ordinary change. It reports whether
// there was one. An undo ends once its value has crossed, too. A value that changed after the
// conflict is not overwritten, as there is nothing to undo then. The undo waits while both values
// still stand, as the winner may not be written yet.
func (w ledger) undo() (asked bool, err error) {
	for a, id := range mapping.Sorted(w.pair.Undo) {
		c, known, err := w.ledgerEntry(id)
		crosses := false
		if known && c.State != mapping.ConflictUndone {
			crosses, err = w.undoOne(a, c)
			if errors.Is(err, errNotDecided) {
				continue
			}
			asked = true
		}
		if err != nil {
			return false, err
		}
		if !crosses {
			delete(w.pair.Undo, a)
		}
	}
	return asked, nil
}

// creditUndo names the operator in the decisions that carry a restored value to the other side. The
// root records the undo of a line's conflict.
func (w ledger) creditUndo(plan *mapping.Plan) error {
	asked, task := w.pair.Undo, mapping.ObjectID("")
	if w.pair.IsTask() {
		task = w.pair.Card.ID
	}
	if !w.pair.HasIssue() {
		asked = w.root.pair.Undo
	}
	for a, id := range mapping.Sorted(asked) {
		c, known, err := w.ledgerEntry(id)
		if err != nil {
			return err
		}
		for i := range plan.Decisions {
			d := &plan.Decisions[i]
			back := d.Action == mapping.ToPlan && c.Winner == mapping.Planning && mapping.Same(a, d.Base.GitHub, c.GitHub) ||
				d.Action == mapping.ToHub && c.Winner != mapping.Planning && planningWriter(w).agrees(a, c.Planning, d.Base.Planning)
			if known && d.Attribute == a && c.Task == task && back {
				d.By, d.Why = undoneBy(c)
			}
		}
	}
	return nil
}

// undoneBy is who asked for the undo of a conflict, and the reason of its writes.
func undoneBy(c mapping.Conflict) (who, why string) {
	who = cmp.Or(c.UndoneBy, "an operator")
	return who, who + " undid conflict " + c.ID
}

// errNotDecided: both values of a conflict still stand.
var errNotDecided = errors.New("the winner is not written")

// undoOne restores one loser, and reports whether it is still to cross.
func (w ledger) undoOne(a mapping.Attribute, c mapping.Conflict) (crosses bool, err error) {
	if part := w.link.Part(mapping.TaskRef(c.Task)); part != nil && !w.pair.IsTask() {
		if part.Undo == nil {
			part.Undo = map[mapping.Attribute]string{}
		}
		part.Undo[a] = c.ID
		return false, nil
	}
	if err := reader(w).readBoth(); err != nil {
		return false, err
	}
	pw, item := work(w), (*mapping.Pair)(nil)
	if w.lists() && c.Task != "" {
		if item, err = lister(w).itemOfTask(c.Task); err != nil {
			return false, err
		}
		if item == nil {
			return false, w.noteUndone(c, false)
		}
		pw = lineTasks(w).lineWork(item)
	}
	of := func(v string) string { return w.link.Text(w.route, a, v) }
	g, p, lost := pw.g[a].Value, pw.p[a], of(c.GitHub)
	d := mapping.Decision{Attribute: a, Action: mapping.Undo, Base: pw.pair.Base[a]}
	d.By, d.Why = undoneBy(c)
	// Planning may store what is written to it in a spelling of its own.
	holds := func(text string) bool { return planningWriter(w).agrees(a, text, of(p.Value)) }
	won := mapping.PlanningForm(a, lost, p.Value)
	if c.Winner == mapping.Planning {
		won = of(c.Planning)
	}
	if !holds(won) || !mapping.Equal(a, of(g), p.Value) && !holds(mapping.PlanningForm(a, of(g), p.Value)) {
		stand := mapping.Same(a, of(g), lost) && mapping.Same(a, of(p.Value), of(c.Planning))
		stood := mapping.Same(a, d.Base.Planning, of(c.Planning))
		if c.Winner != mapping.Planning {
			stood = mapping.Same(a, of(d.Base.GitHub), lost)
		}
		if stand && !stood {
			return false, errNotDecided
		}
		return stand, w.noteUndone(c, stand) // the answer to the write of the loser was lost
	}
	if err := w.writeUndo(d, c, item, g, lost, p); err != nil {
		return false, err
	}
	return true, w.noteUndone(c, true)
}

// writeUndo writes the loser of a conflict to the side it came from. The conflict is about the line
// item; nil: it is about the pair itself.
func (w ledger) writeUndo(d mapping.Decision, c mapping.Conflict, item *mapping.Pair, g, lost string, p mapping.Versioned) (err error) {
	line := w.list.lines[item]
	w.list = list{} // this write leaves the checklist's changes of the body out
	moved := false
	switch {
	case c.Winner != mapping.Planning:
		d.Planning = &mapping.Write{From: p.Value, To: c.Planning, Version: p.Version}
		plan := mapping.Plan{Decisions: []mapping.Decision{d}}
		if item != nil {
			moved, err = lineTasks(w).putTask(item, plan)
		} else {
			moved, err = planningWriter(w).write(plan)
		}
		if err == nil && moved {
			err = later(0, "planning moved while a conflict was undone")
		}
		return err
	case item == nil:
		d.GitHub = &mapping.Write{From: g, To: bodyEditor(w).aroundItems(d.Attribute, lost)}
	default:
		d.GitHub = &mapping.Write{From: g, To: lost}
		changed := changedItem(line, mapping.Plan{Decisions: []mapping.Decision{d}})
		d.Attribute, d.Base = mapping.Summary, w.pair.Base[mapping.Summary]
		d.GitHub = &mapping.Write{From: w.body(), To: bodyEditor(w).changedBody(changed)}
	}
	return githubWriter(w).write(mapping.Plan{Decisions: []mapping.Decision{d}})
}

// noteUndone records the result of an undo.
func (w ledger) noteUndone(c mapping.Conflict, undone bool) error {
	if !undone {
		w.note("", c.Attribute, "undo", "conflict "+c.ID+" is not undone: the value was changed since")
		return nil
	}
	c.State, c.Settled = mapping.ConflictUndone, w.Now().UTC()
	return w.keepEntry(c)
}
