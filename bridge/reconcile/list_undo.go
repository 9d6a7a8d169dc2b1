package reconcile

import (
	"slices"

	"planbridge/mapping"
)

// asks reports whether a question about the link waits for its answer.
func asks(l *mapping.Link) bool {
	return len(l.Asking) > 0 || slices.ContainsFunc(l.Children, func(c *mapping.Pair) bool { return len(c.Asking) > 0 })
}

// questions is how many questions wait for an answer on the issue.
func (w *work) questions() int {
	n := len(w.owner.Asking)
	if !w.owner.IsTask() {
		for _, c := range w.link.Children {
			n += len(c.Asking)
		}
	}
	return n
}

// undoItem is undoOne for a conflict about a checklist item. It reports whether
// there was something to undo.
func (w *work) undoItem(c mapping.Conflict) (undone bool, err error) {
	if err := w.readTasks(w.tracking()); err != nil {
		return false, err
	}
	w.seeList()
	var item *mapping.Pair
	for _, known := range w.items() {
		if known.Card.ID == c.Task && known.State == mapping.Linked {
			item = known
		}
	}
	if item == nil {
		return false, nil
	}
	a, line, pw := c.Attribute, w.list.lines[item], w.lineWork(item)
	w.list = list{} // what the checklist changes in the body is not written now
	g, p := pw.g[a].Value, pw.p[a]
	won, lost := c.GitHub, c.Planning
	if c.Winner == mapping.Planning {
		won, lost = lost, won
	}
	if !mapping.Same(a, p.Value, won) || !mapping.Equal(a, g, p.Value) {
		return false, nil
	}
	d := mapping.Decision{Attribute: a, Action: mapping.Undo, Why: "an operator undid conflict " + c.ID, Base: item.Base[a]}
	if c.Winner == mapping.Planning {
		d.GitHub = &mapping.Write{From: g, To: lost}
		changed := changedItem(line, mapping.Plan{Decisions: []mapping.Decision{d}})
		d.Attribute, d.Base = mapping.Summary, w.pair.Base[mapping.Summary]
		d.GitHub = &mapping.Write{From: w.body(), To: w.changedBody(changed)}
		return true, w.writeGitHub(mapping.Plan{Decisions: []mapping.Decision{d}})
	}
	d.Planning = &mapping.Write{From: p.Value, To: lost, Version: p.Version}
	moved, err := w.putTask(item, mapping.Plan{Decisions: []mapping.Decision{d}})
	if err == nil && moved {
		err = later(0, "planning moved while a conflict was undone")
	}
	return true, err
}
