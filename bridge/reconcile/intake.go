package reconcile

import (
	"slices"
	"strings"

	"planbridge/mapping"
)

// takeEvents handles the events that no snapshot may replace.
func (w intake) takeEvents() {
	for _, e := range w.events {
		if e.Moved != nil {
			w.arrived = append(w.arrived, e.Moved.To.ID)
		}
		if e.Parent != nil || !w.owns(e.Item) {
			continue // of another issue of the family
		}
		if e.Step != nil {
			freshness(w).ownEvent(e.Step)
			continue
		}
		if e.Moved != nil {
			w.moves = append(w.moves, e.Moved)
		}
		if e.Look != "" {
			reads := e.Look != mapping.LookOpened && e.Look != mapping.LookHandedOver
			w.opened = w.opened || e.Look == mapping.LookOpened
			w.mustRead, w.urgent = w.mustRead || reads, w.urgent || reads
			continue
		}
		if !w.repeated(e) {
			w.edits = append(w.edits, e)
		}
	}
}

// repeated reports whether another webhook reported the same edit: the GUID of a delivery
// names the event, whichever hook sent it.
func (w intake) repeated(e mapping.IssueEvent) bool {
	guid := func(e mapping.IssueEvent) string { return e.Delivery[strings.LastIndex(e.Delivery, ":")+1:] }
	return slices.ContainsFunc(w.edits, func(o mapping.IssueEvent) bool {
		return e.Delivery != "" && guid(o) == guid(e) && o.Title == e.Title && o.Body == e.Body &&
			(o.TitleFrom == nil) == (e.TitleFrom == nil)
	})
}

// owns reports whether an event about an item belongs to this pair. A part owns its own
// events, and the root all others.
func (w intake) owns(item mapping.Ref) bool {
	p := w.link.Part(item)
	if w.pair.IsTask() {
		return p == w.pair
	}
	return p == nil
}
