package reconcile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"planbridge/mapping"
)

// takeEvents decodes what must not be folded into a snapshot.
func (w *work) takeEvents() error {
	for _, data := range w.claim.Events {
		var e mapping.Edit
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("stored event: %w", err)
		}
		if e.Moved != nil {
			w.arrived = append(w.arrived, e.Moved.To.ID)
		}
		if e.Parent != nil || !w.mine(e.Item) {
			continue // of another issue of the family
		}
		if e.Step != nil {
			if err := w.ownEvent(e.Step); err != nil {
				return err
			}
			continue
		}
		if e.Moved != nil {
			w.moves = append(w.moves, e.Moved)
		}
		if e.Look != "" {
			reads := e.Look != mapping.LookOpened && e.Look != mapping.LookHandedOver
			w.opened = w.opened || e.Look == mapping.LookOpened
			w.looked, w.urgent = w.looked || reads, w.urgent || reads
			continue
		}
		if !w.repeated(e) {
			w.edits = append(w.edits, e)
		}
	}
	return nil
}

// repeated reports whether another webhook told of an edit already: a delivery's GUID
// names the event, whatever hook it came by.
func (w *work) repeated(e mapping.Edit) bool {
	guid := func(e mapping.Edit) string { return e.Delivery[strings.LastIndex(e.Delivery, ":")+1:] }
	return slices.ContainsFunc(w.edits, func(o mapping.Edit) bool {
		return e.Delivery != "" && guid(o) == guid(e) && o.Title == e.Title && o.Body == e.Body &&
			(o.TitleFrom == nil) == (e.TitleFrom == nil)
	})
}
