// Package queue holds the queue's rules: when a key is due, leased, waiting or parked, and how
// each event changes that. Its entry point is [Work].
//
// The package is pure. It reads no clock and does no I/O; times are Unix nanoseconds from the
// caller. A Work is a value: every rule returns another one and leaves its own unchanged. Stores
// boltstore and memstore share these rules; redisstore/scripts has them in Lua.
package queue

import (
	"cmp"
	"math"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// Place is where a key stands in the queue. The values are stored.
type Place int

// The places.
const (
	Idle    Place = iota // nothing to do
	Queued               // due at Work.Due, which is the lease's end while leased
	Waiting              // for Work.Service, since Work.Due
	Parked               // given up at Work.Due; with Work.Service heldKey until Enqueue
)

// heldKey is the Service of a parked key that only Enqueue takes up.
const heldKey = "operator"

// Work is the queue's state of a link.
type Work struct {
	Gen       int64         // counts the changes
	Token     int64         // of the last claim
	Until     int64         // end of the lease; 0: none
	Session   store.Session // of the lease; "": none
	Again     int64         // when a change that came under the lease is due
	Place     Place
	Bulk      bool
	Due       int64
	Service   string
	Reason    string
	Attempts  int
	Open      int     // claims since the last ended one
	Abandoned int     // abandoned claims, without those in Open
	Inbox     []Slot  // ordered by Item
	Events    []Event // oldest first
	Own       []Event // events of the bridge's own account, oldest first
}

// Slot is the newest snapshot of one item.
type Slot struct {
	Item      mapping.Ref
	Gen       int64
	At        int64
	Digest    string
	Ambiguous bool
	Data      []byte
	Seen      int64
}

// Event is one event that waits for a claim.
type Event struct {
	Gen  int64
	Data []byte
}

// InQueue reports whether the key counts against the queue's bound.
func (w Work) InQueue() bool { return w.Place == Queued || w.Place == Waiting }

// Full reports whether the queue is too full for the key. A limit of 0 is no bound.
func (w Work) Full(queued, limit int) bool { return limit > 0 && !w.InQueue() && queued >= limit }

// held reports whether only Enqueue takes the key up again.
func (w Work) held() bool { return w.Place == Parked && w.Service == heldKey }

// Leased reports whether a claim holds the key.
func (w Work) Leased(now int64) bool { return w.Until > now }

// Holds reports whether the claim with that token holds the key.
func (w Work) Holds(token, now int64) bool { return w.Token == token && w.Leased(now) }

// Change records a change of the key and makes it due: at once where it is free, after the claim
// where it is leased. A key that waits for a service, or is held, goes on waiting unless wake is
// set.
func (w Work) Change(now int64, delay time.Duration, bulk, wake bool) Work {
	w.Gen++
	w.Bulk = bulk && (w.Bulk || !w.InQueue())
	due := now + int64(max(delay, 0))
	switch {
	case w.Leased(now):
		if w.Again == 0 || due < w.Again {
			w.Again = due
		}
	case w.Place == Queued:
		if due < w.Due {
			w.Due, w.Reason = due, ""
		}
	case (w.Place == Waiting || w.held()) && !wake:
	default:
		return w.Queue(due)
	}
	return w
}

// Queue makes the key due at a time. A parked key starts anew.
func (w Work) Queue(due int64) Work {
	if w.Place == Parked {
		w.Attempts, w.Abandoned = 0, max(w.Abandoned-1, 0)
	}
	w.Place, w.Due, w.Service, w.Reason = Queued, due, "", ""
	return w
}

// Observe records an observation. A duplicate delivery stores nothing. It reports whether the
// item's slot now holds the observation's snapshot.
//
// An observation without news does not take up a parked key, nor one that is worked and then
// parked. Each start of a process makes such observations. They must not retry the key that ended
// the last process.
func (w Work) Observe(o *store.Observation, now int64, duplicate bool) (next Work, stored bool) {
	news, same := w.compare(o)
	if !news && !duplicate && w.Place == Parked {
		return w, same
	}
	gen := w.Gen
	w = w.Change(now, o.Delay, o.Bulk, false)
	if !news && !duplicate && w.Leased(now) {
		w.Gen = gen
		return w, same
	}
	if duplicate {
		return w, false
	}
	if o.Data != nil {
		w, stored = w.store(o, now)
	}
	if len(o.Event) > 0 {
		w = w.addEvent(o.Event, o.Own)
	}
	return w, stored
}

// compare reports whether an observation has news for the inbox, and whether its snapshot is the
// one in its slot.
func (w Work) compare(o *store.Observation) (news, same bool) {
	i, had := w.slot(o.Item)
	if o.Data == nil || !had {
		return true, false
	}
	old := &w.Inbox[i]
	same = o.At == old.At && o.Digest == old.Digest
	return len(o.Event) > 0 || o.At >= old.At && !same, same
}

// slot finds the position of an item's slot.
func (w Work) slot(item mapping.Ref) (at int, had bool) {
	return slices.BinarySearchFunc(w.Inbox, item, func(s Slot, item mapping.Ref) int { return cmp.Compare(s.Item, item) })
}

// store puts a snapshot into its slot after [Work.Change]. It reports whether the slot now holds
// it.
func (w Work) store(o *store.Observation, now int64) (Work, bool) {
	s := Slot{Item: o.Item, Gen: w.Gen, At: o.At, Digest: o.Digest, Data: o.Data, Seen: now}
	i, had := w.slot(o.Item)
	if !had {
		w.Inbox = slices.Insert(slices.Clone(w.Inbox), i, s)
		return w, true
	}
	old := w.Inbox[i]
	switch {
	case o.At < old.At:
		return w, false
	case o.At == old.At && o.Digest == old.Digest:
		return w, true
	}
	s.Ambiguous, s.Seen = o.At == old.At, old.Seen
	w.Inbox = slices.Clone(w.Inbox)
	w.Inbox[i] = s
	return w, true
}

func (w Work) addEvent(data []byte, own bool) Work {
	events := &w.Events
	if own {
		events = &w.Own
	}
	old := (*events)[max(0, len(*events)+1-rules.Events):]
	*events = append(slices.Clone(old), Event{w.Gen, data})
	return w
}

// Lease begins a claim of a session. The caller adds the claim's Key, Until, Link and Events.
func (w Work) Lease(now int64, ttl time.Duration, session store.Session) (Work, *store.Claim) {
	due := now
	if w.Place == Queued {
		due = w.Due
	}
	if !w.InQueue() {
		w.Bulk = false
	}
	w.Token++
	w.Open++
	w.Until, w.Session = now+int64(ttl), session
	w.Again = 0
	w = w.Queue(w.Until)
	c := &store.Claim{
		Token: w.Token, Session: session, Attempts: w.Attempts, Abandoned: w.abandoned(), AfterAbandoned: w.Open > 1,
		Inbox: map[mapping.Ref]store.Snapshot{}, Due: time.Unix(0, due), Generation: w.Gen,
	}
	for _, s := range w.Inbox {
		c.Inbox[s.Item] = store.Snapshot{At: s.At, Digest: s.Digest, Ambiguous: s.Ambiguous, Data: s.Data, Seen: time.Unix(0, s.Seen)}
	}
	return w, c
}

// EndLease makes a leased key due, as its process is dead.
func (w Work) EndLease(now int64) Work {
	w.Until, w.Session = now, ""
	return w.Queue(now)
}

// EndsWith reports whether a claim of one of the sessions holds the key.
func (w Work) EndsWith(over []store.Session, now int64) bool {
	return w.Leased(now) && w.Session != "" && slices.Contains(over, w.Session)
}

// abandoned returns the number of abandoned claims. The last claim may be under way and does not
// count.
func (w Work) abandoned() int { return w.Abandoned + max(w.Open-1, 0) }

// GiveUp forgets a claim that may be under way, without counting it as abandoned. It serves
// records of a lost store.
func (w Work) GiveUp() Work {
	w.Open = 0
	return w
}

// Ended reports how Finish must treat a claim. done says that nothing is left to do, as after a
// lost answer. Otherwise the claim is valid, or [store.ErrLeaseLost]. w is nil where there is no
// such link.
func Ended(w *Work, token int64, kind store.OutcomeKind, now int64) (done bool, err error) {
	switch {
	case w == nil && kind == store.Remove, w != nil && w.Token == token && w.Until == 0:
		return true, nil
	case w == nil || !w.Holds(token, now):
		return false, store.ErrLeaseLost
	}
	return false, nil
}

// Removes reports whether the outcome of a claim of generation gen deletes the link.
func (w Work) Removes(out store.Outcome, gen int64) bool {
	return out.Kind == store.Remove && w.Gen == gen
}

// Finish ends the claim of generation gen. A change that came meanwhile (at w.Again) keeps the
// key from being done, parked or removed. The caller deletes the link where [Work.Removes] says
// so.
func (w Work) Finish(out store.Outcome, gen, now int64) Work {
	changed, again := w.Gen != gen, w.Again
	own := now + int64(max(out.After, 0))
	done := out.Kind == store.Done || out.Kind == store.Erase
	if done && out.After <= 0 {
		own = math.MaxInt64
	}
	due := own
	if again != 0 {
		due = min(due, again)
	}
	w.Until, w.Session, w.Again = 0, "", 0
	w.Abandoned, w.Open = w.abandoned(), 0
	switch {
	case done:
		w = w.consume(gen)
		w.Attempts, w.Abandoned = 0, 0
		w.Place = Idle
		if due < math.MaxInt64 {
			w = w.Queue(due)
		}
	case out.Kind == store.Retry:
		w.Attempts++
		w = w.Queue(due)
	case out.Kind == store.Again:
		w = w.Queue(due)
	case out.Kind == store.Wait:
		w.Place, w.Service, w.Due = Waiting, out.Service, now
	case out.Kind == store.Park, out.Kind == store.Hold:
		if !out.Unspent { // the final attempt counts among those shown
			w.Attempts++
		}
		w.Place, w.Due = Parked, now
		if out.Kind == store.Hold {
			w.Service = heldKey
		}
	}
	w.Reason = rules.Reason(out.Reason)
	if w.Place == Idle || w.Place == Queued && due != own { // no reason is needed, or a change decides
		w.Reason = ""
	}
	if changed && (out.Kind == store.Park || out.Kind == store.Remove) {
		w = w.Queue(again)
	}
	return w
}

// consume removes the snapshots and events that a claim of generation gen had.
func (w Work) consume(gen int64) Work {
	w.Inbox = later(w.Inbox, gen, func(s Slot) int64 { return s.Gen })
	w.Events = later(w.Events, gen, func(e Event) int64 { return e.Gen })
	w.Own = later(w.Own, gen, func(e Event) int64 { return e.Gen })
	return w
}

// later returns the elements after a generation.
func later[T any](all []T, gen int64, of func(T) int64) (some []T) {
	for _, one := range all {
		if of(one) > gen {
			some = append(some, one)
		}
	}
	return some
}

// ParkUnreadable parks a key with an unreadable part.
func (w Work) ParkUnreadable(now int64, reason string) Work {
	w.Until, w.Session, w.Again = 0, "", 0
	w.Place, w.Due, w.Reason = Parked, now, reason
	return w
}

// Failures is the number of failed attempts and abandoned claims.
func (w Work) Failures() int { return w.Attempts + w.Abandoned }
