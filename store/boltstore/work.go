package boltstore

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// place says where a key stands.
type place int

const (
	idle    place = iota // nothing to do
	queued               // due at work.Due; while leased that is the lease's end
	waiting              // for work.Service
	parked               // given up at work.Due
)

// work is what the queue knows of a link. Its methods are the whole life of a
// key and touch nothing else.
type work struct {
	Gen      int64                `json:"g"`           // counts the changes
	Token    int64                `json:"t,omitempty"` // of the last claim
	Until    int64                `json:"u,omitempty"` // end of the lease; 0: none
	Again    int64                `json:"n,omitempty"` // when a change that came under the lease is due
	Place    place                `json:"p,omitempty"`
	Bulk     bool                 `json:"b,omitempty"`
	Due      int64                `json:"d,omitempty"`
	Service  string               `json:"s,omitempty"`
	Reason   string               `json:"r,omitempty"`
	Attempts int                  `json:"a,omitempty"`
	Inbox    map[mapping.Ref]slot `json:"i,omitempty"`
	Events   []event              `json:"e,omitempty"` // oldest first

	entry  entry   // where the indexes have it now
	stored []int64 // the events that have a record now
}

type slot struct {
	Gen       int64  `json:"g"`
	At        int64  `json:"at"`
	Digest    string `json:"d"`
	Ambiguous bool   `json:"m,omitempty"`
	Data      blob   `json:"b"`
	Seen      int64  `json:"s"`
}

// event is one that waits; Data is only there until it is stored in a record of
// its own.
type event struct {
	Gen  int64 `json:"g"`
	Data blob  `json:"b"`
}

// inQueue: the key counts against the queue's bound.
func (w *work) inQueue() bool { return w.Place == queued || w.Place == waiting }

func (w *work) leased(now int64) bool { return w.Until > now }

func (w *work) holds(token, now int64) bool { return w.Token == token && w.leased(now) }

// change notes that something happened to the key and makes it due: at once
// where it stands free, after the claim where it is leased. A key that waits
// for a service goes on waiting unless wake is set.
func (w *work) change(now int64, delay time.Duration, bulk, wake bool) {
	w.Gen++
	w.Bulk = bulk && (w.Bulk || !w.inQueue())
	due := now + int64(max(delay, 0))
	switch {
	case w.leased(now):
		if w.Again == 0 || due < w.Again {
			w.Again = due
		}
	case w.Place == queued:
		w.Due = min(w.Due, due)
	case w.Place == waiting && !wake:
	default:
		w.queue(due)
	}
}

func (w *work) queue(due int64) {
	if w.Place == parked {
		w.Attempts = 0
	}
	w.Place, w.Due, w.Service, w.Reason = queued, due, "", ""
}

// store puts a snapshot into its slot after [work.change]; it reports whether
// the slot now holds it.
func (w *work) store(o *store.Observation, now int64) bool {
	old, had := w.Inbox[o.Item]
	s := slot{Gen: w.Gen, At: o.At, Digest: o.Digest, Data: o.Data, Seen: now}
	if had {
		if o.At < old.At {
			return false
		}
		if o.At == old.At {
			if o.Digest == old.Digest {
				return true
			}
			s.Ambiguous = true
		}
		s.Seen = old.Seen
	}
	if w.Inbox == nil {
		w.Inbox = map[mapping.Ref]slot{}
	}
	w.Inbox[o.Item] = s
	return true
}

func (w *work) addEvent(data []byte) {
	w.Events = append(w.Events, event{w.Gen, data})
	if n := len(w.Events) - rules.Events; n > 0 {
		w.Events = slices.Delete(w.Events, 0, n)
	}
}

// lease begins a claim and returns since when the key was due.
func (w *work) lease(now int64, ttl time.Duration) (due int64) {
	due = now
	if w.Place == queued {
		due = w.Due
	}
	if !w.inQueue() {
		w.Bulk = false
	}
	w.Token++
	w.Until = now + int64(ttl)
	w.Again = 0
	w.queue(w.Until)
	return due
}

// finish ends the claim that saw generation gen. A change that came meanwhile
// (at w.Again) keeps the key from being done, parked or removed; Remove is
// otherwise the caller's.
func (w *work) finish(out store.Outcome, gen, now int64) {
	changed, again := w.Gen != gen, w.Again
	due := now + int64(max(out.After, 0))
	if out.Kind == store.Done && out.After <= 0 {
		due = math.MaxInt64
	}
	if changed {
		due = min(due, again)
	}
	w.Until, w.Again = 0, 0
	switch out.Kind {
	case store.Done:
		w.consume(gen)
		w.Attempts = 0
		w.Place = idle
		if due < math.MaxInt64 {
			w.queue(due)
		}
	case store.Retry:
		w.Attempts++
		w.queue(due)
	case store.Again:
		w.queue(due)
	case store.Wait:
		w.Place, w.Service = waiting, out.Service
	case store.Park:
		// The attempt that led here counts among those that are shown.
		w.Attempts++
		w.Place, w.Due = parked, now
	}
	w.Reason = out.Reason
	if changed && (out.Kind == store.Park || out.Kind == store.Remove) {
		w.queue(again)
	}
}

// consume forgets what a claim of generation gen carried.
func (w *work) consume(gen int64) {
	for ref, s := range w.Inbox {
		if s.Gen <= gen {
			delete(w.Inbox, ref)
		}
	}
	w.Events = slices.DeleteFunc(w.Events, func(e event) bool { return e.Gen <= gen })
}

// entry is where an index lists a key: a bucket and the key in it.
type entry struct{ bucket, key string }

// index computes the entry that belongs to the work's place.
func (w *work) index(id mapping.LinkID) entry {
	class := "\x00"
	if w.Bulk {
		class = "\x01"
	}
	switch w.Place {
	case queued:
		return entry{"queue", class + string(be64(w.Due)) + string(id)}
	case waiting:
		return entry{"waiting", w.Service + "\x00" + class + string(id)}
	case parked:
		return entry{"failed", string(be64(w.Due)) + string(id)}
	}
	return entry{}
}

// work reads a key's queue state; nil where there is no such link.
func (sp space) work(id mapping.LinkID) (*work, error) {
	data := sp.b("work").Get([]byte(id))
	if data == nil {
		return nil, nil
	}
	w, err := decodeWork(data)
	if err != nil {
		return nil, fmt.Errorf("work %s/%s: %w", sp.project, id, err)
	}
	w.entry = w.index(id)
	for _, e := range w.Events {
		if e.Data == nil {
			w.stored = append(w.stored, e.Gen)
		}
	}
	return w, nil
}

// putWork stores a key's queue state and moves its index entry along.
func (sp space) putWork(id mapping.LinkID, w *work) error {
	if err := sp.putEvents(id, w); err != nil {
		return err
	}
	if err := sp.b("work").Put([]byte(id), encodeWork(w)); err != nil {
		return err
	}
	was, is := w.entry, w.index(id)
	if was == is {
		return nil
	}
	w.entry = is
	if was.bucket != "" {
		if err := sp.b(was.bucket).Delete([]byte(was.key)); err != nil {
			return err
		}
	}
	if is.bucket != "" {
		if err := sp.b(is.bucket).Put([]byte(is.key), nil); err != nil {
			return err
		}
	}
	return sp.count(counted(is) - counted(was))
}

func eventKey(id mapping.LinkID, gen int64) []byte {
	return []byte(string(id) + "\x00" + string(be64(gen)))
}

// putEvents stores the events that are new and forgets those that are no more.
func (sp space) putEvents(id mapping.LinkID, w *work) error {
	if len(w.stored) == 0 && len(w.Events) == 0 {
		return nil
	}
	events := sp.b("events")
	for _, gen := range w.stored {
		if slices.ContainsFunc(w.Events, func(e event) bool { return e.Gen == gen }) {
			continue
		}
		if err := events.Delete(eventKey(id, gen)); err != nil {
			return err
		}
	}
	w.stored = nil
	for i := range w.Events {
		e := &w.Events[i]
		if w.stored = append(w.stored, e.Gen); e.Data == nil {
			continue
		}
		if err := events.Put(eventKey(id, e.Gen), e.Data); err != nil {
			return err
		}
		e.Data = nil
	}
	return nil
}

// events reads the events of a work that is stored.
func (sp space) events(id mapping.LinkID, w *work) [][]byte {
	var all [][]byte
	b := sp.b("events")
	for _, e := range w.Events {
		all = append(all, bytes.Clone(b.Get(eventKey(id, e.Gen))))
	}
	return all
}

func counted(e entry) int64 {
	if e.bucket == "queue" || e.bucket == "waiting" {
		return 1
	}
	return 0
}

func (sp space) count(change int64) error {
	if change == 0 {
		return nil
	}
	return sp.b("counts").Put(countQueued, be64(sp.queued()+change))
}

func (sp space) queued() int64 {
	if v := sp.b("counts").Get(countQueued); v != nil {
		return fromBE64(v)
	}
	return 0
}

// full reports whether the key may not enter the queue: it is at its bound
// and the key is not in it yet.
func (sp space) full(w *work) bool {
	return sp.limit > 0 && (w == nil || !w.inQueue()) && sp.queued() >= int64(sp.limit)
}
