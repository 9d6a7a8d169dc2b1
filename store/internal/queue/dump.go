package queue

import (
	"cmp"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// dumpedAs is the [store.Record] name of each place.
var dumpedAs = map[Place]store.Place{Idle: store.Idle, Queued: store.Queued, Waiting: store.Waiting, Parked: store.Parked}

// Dump writes the work into a record. The caller adds its events.
func (w Work) Dump(r *store.Record, now int64) {
	r.Place, r.Bulk, r.Reason, r.Attempts, r.Abandoned = dumpedAs[w.Place], w.Bulk, w.Reason, w.Attempts, w.Abandoned
	switch {
	case w.Leased(now):
		r.Due = time.Unix(0, now).UTC()
	case w.Place != Idle && w.Due != 0:
		r.Due = time.Unix(0, w.Due).UTC()
	}
	if w.Place == Waiting {
		r.Service = w.Service
	}
	if w.held() {
		r.Place = store.Held
	}
	for _, s := range w.Inbox {
		if r.Inbox == nil {
			r.Inbox = make(map[mapping.Ref]store.Snapshot, len(w.Inbox))
		}
		r.Inbox[s.Item] = store.Snapshot{At: s.At, Digest: s.Digest, Ambiguous: s.Ambiguous, Data: s.Data, Seen: time.Unix(0, s.Seen).UTC()}
	}
}

// Load returns the work of a record. Its token is above those of all earlier claims.
func Load(r *store.Record, now int64) Work {
	w := Work{
		Gen: 1, Token: time.Unix(0, now).UnixMilli(), Bulk: r.Bulk,
		Reason: r.Reason, Attempts: r.Attempts, Abandoned: r.Abandoned,
	}
	switch r.Place {
	case store.Queued:
		w.Place, w.Due = Queued, r.Due.UnixNano()
	case store.Waiting:
		w.Place, w.Service = Waiting, r.Service
		if !r.Due.IsZero() {
			w.Due = r.Due.UnixNano()
		}
	case store.Parked:
		w.Place, w.Due = Parked, r.Due.UnixNano()
	case store.Held:
		w.Place, w.Due, w.Service = Parked, r.Due.UnixNano(), heldKey
	}
	for item, s := range r.Inbox {
		w.Inbox = append(w.Inbox, Slot{Item: item, Gen: w.Gen, At: s.At, Digest: s.Digest, Ambiguous: s.Ambiguous, Data: s.Data, Seen: s.Seen.UnixNano()})
	}
	slices.SortFunc(w.Inbox, func(a, b Slot) int { return cmp.Compare(a.Item, b.Item) })
	for _, data := range r.Events {
		w.Gen++ // each event has a generation of its own
		w = w.addEvent(data, false)
	}
	for _, data := range r.Own {
		w.Gen++
		w = w.addEvent(data, true)
	}
	return w
}
