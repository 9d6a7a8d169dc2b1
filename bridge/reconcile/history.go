package reconcile

import "planbridge/mapping"

// note adds a line to the link's history and to the log.
func (w *state) note(side mapping.Side, a mapping.Attribute, what, why string) {
	part := string(w.pair.Kind)
	if w.pair.Kind == mapping.SubIssue {
		part = where(w.pair)
	}
	w.notePart(part, side, a, what, why)
}

// noteWrite is note for a decision that was written. The line of an operator's answer or undo
// names the operator. A marker that comes back is nobody's edit.
func (w *state) noteWrite(side mapping.Side, d mapping.Decision) {
	what := "write"
	switch {
	case d.Action == mapping.RestoreMarker:
		what = "mark"
	case d.By != "" && d.Action == mapping.ResolveConflict:
		what = "answer"
	case d.By != "":
		what = "undo"
	}
	w.note(side, d.Attribute, what, d.Why)
	if d.By != "" {
		w.history[len(w.history)-1].Who = d.By
	}
}

// notePart is note for a part of the pair; "": the pair itself.
func (w *state) notePart(part string, side mapping.Side, a mapping.Attribute, what, why string) {
	e := mapping.Entry{At: w.Now().UTC(), Side: side, Attribute: a, What: what, Why: why, Delivery: w.delivery, Part: part}
	if what == "write" || what == "create" {
		if took, known := w.sinceFirstSeen(); known {
			e.Took = took.Seconds()
		}
		if side == mapping.Planning {
			e.Who = person(w, what == "create")
		}
	}
	w.history = append(w.history, e)
	log := w.log.Info
	switch what {
	case mapping.Rerouted:
		log = w.log.Debug // one line reports all links at once
	case "refused":
		log = w.log.Warn // somebody has to write another value
	}
	log(what, "side", string(side), "attribute", string(a), "why", why)
}

// person is the login of the person whose change is written to planning, or who opened the issue.
// It is "" where the bridge made the change, or GitHub did not say who.
func person(w *state, opened bool) string {
	if w.issue == nil {
		return ""
	}
	who := w.issue.Editor
	if opened {
		who = w.issue.Author
	}
	if who == "" || w.Authorship(who).Perhaps() {
		return ""
	}
	return who
}
