package reconcile

import (
	"errors"

	"planbridge/mapping"
)

// markTasks restores the markers of the card's tasks that the bridge made for the state or
// for a line. A task that moved meanwhile gets it later. A text that planning refuses with a marker
// stays without one until it changes.
func (w signer) markTasks() error {
	if w.link.Moving != nil || !w.route.Writes(mapping.Planning) {
		return nil
	}
	for _, c := range w.link.Children {
		t, seen := w.tasks.seen[c.Card.ID]
		if !seen || c.Origin == mapping.Planning || lineTasks(w).elsewhere(&t) {
			continue
		}
		bare, refused := mapping.DigestText(t.Summary.Value), c.Refused[mapping.Summary].Value
		if refused != bare {
			delete(c.Refused, mapping.Summary)
		}
		if bare == refused || bare == c.MarkerRestored || len(w.marks(t.Summary.Value, mapping.MarkTask)) > 0 {
			continue
		}
		err := w.markTask(c, &t)
		if lostLease(err) {
			return err
		}
		if err != nil {
			w.listErr = onPlanning(err) // the issue and its card agree without it
			return nil
		}
	}
	return nil
}

// markTask writes a task's text with the marker of its pair.
func (w signer) markTask(c *mapping.Pair, t *mapping.Task) error {
	partner := itemPartner
	if c.Kind == mapping.Tracking {
		partner = trackingPartner
	}
	marked := w.footer(w.strip(t.Summary.Value), mapping.MarkTask, c.Nonce, partner)
	err := w.putText(mapping.TaskRef(t.ID), mapping.Versioned{Value: marked, Version: t.Summary.Version})
	var refused *mapping.Rejection
	switch {
	case err == nil:
		c.MarkerRestored = mapping.DigestText(t.Summary.Value)
		w.notePart(string(c.Kind), mapping.Planning, mapping.Summary, "mark", "its marker was removed from task "+string(t.ID))
	case errors.As(err, &refused):
		saver(lineTasks(w).lineWork(c)).refuseValue(mapping.Planning, mapping.Summary, t.Summary.Value, refused)
	case errors.As(err, new(*mapping.VersionConflict)) || IsGone(err):
	default:
		return err
	}
	return nil
}

// putText writes the whole text of an item in planning, where it is still of that version.
func (w signer) putText(item mapping.Ref, text mapping.Versioned) error {
	if err := saver(w).writing(); err != nil {
		return err
	}
	_, err := do(w, Update{item, w.route.Username, w.route.Images, map[mapping.Attribute]mapping.Versioned{mapping.Summary: text}})
	return err
}
