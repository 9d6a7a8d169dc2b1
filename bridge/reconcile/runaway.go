package reconcile

import (
	"time"

	"planbridge/mapping"
)

// Two programs, one on each side, that answer each other's changes would keep a link busy for
// ever. [mapping.Exchange] says what separates them from people.

// stopRunaway records, once a claim, the changes that lead to the writes of an attribute, and
// stops a runaway.
func (w pacer) stopRunaway(a mapping.Attribute, to mapping.Side) error {
	if w.resumed || w.claim.Attempts+w.claim.Abandoned > 0 || w.paced[a] {
		return nil
	}
	w.paced[a] = true
	x := w.pair.Pace.Exchanges[a]
	x.Take(w.changes(a, to)...)
	w.setExchange(a, x)
	if x.Runaway() {
		w.pair.Pace = mapping.Pace{} // an operator who retries it begins anew
		return errRunaway
	}
	return nil
}

// changes lists the known changes that lead to a write to a side.
func (w pacer) changes(a mapping.Attribute, to mapping.Side) (out []mapping.Change) {
	base := w.pair.Base[a]
	g, seen := w.g[a]
	if seen && !mapping.Same(a, g.Value, base.GitHub) {
		out = append(out, w.change(a, mapping.GitHub))
	}
	if p, seen := w.p[a]; seen && !mapping.Same(a, p.Value, base.Planning) {
		out = append(out, w.change(a, mapping.Planning))
	}
	if len(out) == 0 { // of a checklist
		out = append(out, w.change(a, to.Other()))
	}
	return out
}

func (w pacer) change(a mapping.Attribute, side mapping.Side) mapping.Change {
	c := mapping.Change{Side: side}
	if side == mapping.GitHub {
		c.Seen = w.seenAt(mapping.IssueRef(w.owner.Issue.ID))
		c.Several = w.editEvents().Others(a) > 1
		return c
	}
	c.Seen = w.seenAt(w.pair.Partner())
	if w.card != nil {
		c.From = w.card.Polled.From
	}
	c.Several = w.p[a].Version > w.pair.Base[a].Version+1
	return c
}

// seenAt is when an item's change was first seen.
func (w pacer) seenAt(ref mapping.Ref) time.Time {
	if s, ok := w.claim.Inbox[ref]; ok {
		return s.Seen
	}
	return w.Now()
}

// noteWrite records a write to a side.
func (w pacer) noteWrite(side mapping.Side, a mapping.Attribute) {
	if !w.pair.HasIssue() {
		pacer{w.root}.noteWrite(side, mapping.Summary)
		return
	}
	now := w.Now().UTC()
	w.pair.Pace.Wrote(side, now)
	x := w.pair.Pace.Exchanges[a]
	x.Answer(side, now)
	w.setExchange(a, x)
}

func (w pacer) setExchange(a mapping.Attribute, x mapping.Exchange) {
	if w.pair.Pace.Exchanges == nil {
		w.pair.Pace.Exchanges = map[mapping.Attribute]mapping.Exchange{}
	}
	w.pair.Pace.Exchanges[a] = x
}
