package reconcile

import (
	"errors"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
)

// undo brings back the losers that an operator asked for: each is written to
// the side it came from, as if a person had edited it there, and then crosses
// as an ordinary change. A value that was changed again since the conflict is
// not overwritten: then there is nothing to undo.
func (w *work) undo() error {
	for a, id := range mapping.Sorted(w.pair.Undo) {
		c, err := do(w, ReadConflict{w.link.Project, id})
		if errors.Is(err, store.ErrNotFound) {
			delete(w.pair.Undo, a)
			continue
		}
		if err != nil {
			return fmt.Errorf("read conflict %s: %w", id, err)
		}
		if err := w.undoOne(a, c); err != nil {
			return err
		}
		delete(w.pair.Undo, a)
	}
	return nil
}

func (w *work) undoOne(a mapping.Attribute, c mapping.Conflict) error {
	if part := w.link.Part(mapping.TaskRef(c.Task)); part != nil && !w.pair.IsTask() {
		if part.Undo == nil {
			part.Undo = map[mapping.Attribute]string{}
		}
		part.Undo[a] = c.ID
		return nil
	}
	if err := w.readBoth(); err != nil {
		return err
	}
	if w.lists() && c.Task != "" {
		undone, err := w.undoItem(c)
		if err != nil {
			return err
		}
		return w.undid(c, undone)
	}
	g, p, lost := w.g[a].Value, w.p[a], w.link.Text(w.route, a, c.GitHub)
	d := mapping.Decision{Attribute: a, Action: mapping.Undo, Why: "an operator undid conflict " + c.ID, Base: w.pair.Base[a]}
	stands := mapping.Same(a, p.Value, mapping.PlanningForm(a, lost, p.Value))
	if c.Winner == mapping.Planning {
		stands = mapping.Same(a, w.link.Text(w.route, a, p.Value), w.link.Text(w.route, a, c.Planning))
	}
	if !stands || !mapping.Equal(a, w.link.Text(w.route, a, g), p.Value) {
		return w.undid(c, false)
	}
	if c.Winner == mapping.Planning {
		d.GitHub = &mapping.Write{From: g, To: w.around(a, lost)}
		if err := w.writeGitHub(mapping.Plan{Decisions: []mapping.Decision{d}}); err != nil {
			return err
		}
	} else {
		d.Planning = &mapping.Write{From: p.Value, To: c.Planning, Version: p.Version}
		moved, err := w.writePlanning(mapping.Plan{Decisions: []mapping.Decision{d}})
		if err != nil {
			return err
		}
		if moved {
			return later(0, "planning moved while a conflict was undone")
		}
	}
	return w.undid(c, true)
}

// undid takes in what became of an undo.
func (w *work) undid(c mapping.Conflict, undone bool) error {
	if !undone {
		w.note("", c.Attribute, "undo", "conflict "+c.ID+" is not undone: the value was changed since")
		return nil
	}
	c.State, c.Settled = mapping.ConflictUndone, w.Now().UTC()
	if err := done(w, PutConflict{c}); err != nil {
		return fmt.Errorf("undo conflict %s: %w", c.ID, err)
	}
	return nil
}

// readBoth makes sure that both items were read under this claim.
func (w *work) readBoth() error {
	if !w.fresh {
		if err := w.readIssue(); err != nil {
			return err
		}
	}
	if err := w.readCard(); err != nil {
		return err
	}
	if child := w.tracking(); child != nil {
		return w.readTracking(child)
	}
	return nil
}
