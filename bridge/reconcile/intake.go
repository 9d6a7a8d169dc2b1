package reconcile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"planbridge/mapping"
	"planbridge/store"
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

// inbox has the snapshots since the key's last claim: pointers to an issue, a card or a task.
// They are read-only.
type inbox map[mapping.Ref]any

// decode decodes a claim's snapshots and events.
func decode(claim *store.Claim) (in inbox, events []mapping.IssueEvent, err error) {
	in, events = inbox{}, make([]mapping.IssueEvent, len(claim.Events))
	for ref, s := range mapping.Sorted(claim.Inbox) {
		var v any
		switch ref.Kind() {
		case "issue":
			v = &mapping.Issue{}
		case "card":
			v = &mapping.Card{}
		case "task":
			v = &mapping.Task{}
		default:
			continue
		}
		if err := json.Unmarshal(s.Data, v); err != nil {
			return nil, nil, fmt.Errorf("stored snapshot of %s: %w", ref, err)
		}
		in[ref] = v
	}
	for i, data := range claim.Events {
		if err := json.Unmarshal(data, &events[i]); err != nil {
			return nil, nil, fmt.Errorf("stored event: %w", err)
		}
	}
	return in, events, nil
}

// seen returns a copy of an item's snapshot in the inbox; nil: there is none.
func seen[T any](t *claimState, ref mapping.Ref) *T {
	v, ok := t.inbox[ref].(*T)
	if !ok {
		return nil
	}
	snapshot := *v
	return &snapshot
}

// unambiguous is seen, but nil where the inbox met two different snapshots of one second.
func unambiguous[T any](t *claimState, ref mapping.Ref) *T {
	if t.claim.Inbox[ref].Ambiguous {
		return nil
	}
	return seen[T](t, ref)
}

// eachSeen visits the snapshots of one kind of item.
func eachSeen[T any](t *claimState, visit func(v T) error) error {
	for ref := range mapping.Sorted(t.inbox) {
		if v := seen[T](t, ref); v != nil {
			if err := visit(*v); err != nil {
				return err
			}
		}
	}
	return nil
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
