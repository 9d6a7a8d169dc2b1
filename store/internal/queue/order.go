package queue

import (
	"encoding/binary"
	"iter"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// List is an ordered list of keys. The names are stored.
type List string

// The lists, with the form of their entries. A time is 8 bytes big endian; a class is 0 for live,
// 1 for bulk.
const (
	NoList      List = ""
	DueList     List = "queue"   // class, time, link
	WaitingList List = "waiting" // service, 0, class, link
	ParkedList  List = "failed"  // time, link
)

// Entry is a key's position in a list.
type Entry struct {
	List List
	Key  string
}

// Lists are ordered lists of entries.
type Lists interface {
	// Ascend visits the keys of a list from the given one on, in order.
	Ascend(list List, from string) iter.Seq[string]
	// Descend visits the keys of a list before the given one, in reverse order.
	Descend(list List, before string) iter.Seq[string]
}

// Entry returns the key's position in the lists.
func (w Work) Entry(id mapping.LinkID) Entry {
	class := "\x00"
	if w.Bulk {
		class = "\x01"
	}
	switch w.Place {
	case Queued:
		return Entry{DueList, class + order(w.Due) + string(id)}
	case Waiting:
		return Entry{WaitingList, w.Service + "\x00" + class + string(id)}
	case Parked:
		return Entry{ParkedList, order(w.Due) + string(id)}
	}
	return Entry{}
}

// Counts reports whether entries of the list count against the queue's bound.
func (l List) Counts() bool { return l == DueList || l == WaitingList }

func order(t int64) string { return string(binary.BigEndian.AppendUint64(nil, uint64(t))) }

func timeOf(key string) int64 { return int64(binary.BigEndian.Uint64([]byte(key[:8]))) }

// LinkOf returns the link of an entry of [DueList].
func LinkOf(key string) mapping.LinkID { return mapping.LinkID(key[9:]) }

// Next finds the key to claim, other than but. Where none is due it returns how long until one is
// (0: none is queued).
func Next(lists Lists, now int64, but mapping.LinkID) (mapping.LinkID, time.Duration) {
	var wait int64
	for _, class := range []string{"\x00", "\x01"} {
		for key := range lists.Ascend(DueList, class) {
			if key[:1] != class {
				break
			}
			id, due := LinkOf(key), timeOf(key[1:])
			if id == but {
				continue
			}
			if due <= now {
				return id, 0
			}
			if wait == 0 || due-now < wait {
				wait = due - now
			}
			break
		}
	}
	return "", time.Duration(wait)
}

// Later visits the keys of [DueList] that are due after now, leased ones included.
func Later(lists Lists, now int64) iter.Seq[mapping.LinkID] {
	return func(yield func(mapping.LinkID) bool) {
		for _, class := range []string{"\x00", "\x01"} {
			for key := range lists.Ascend(DueList, class+order(now+1)) {
				if key[:1] != class {
					break
				}
				if !yield(LinkOf(key)) {
					return
				}
			}
		}
	}
}

// WaitingFor lists the keys that wait for a service, live ones first.
func WaitingFor(lists Lists, service string) (ids []mapping.LinkID) {
	prefix := service + "\x00"
	for key := range lists.Ascend(WaitingList, prefix) {
		if !strings.HasPrefix(key, prefix) {
			break
		}
		ids = append(ids, mapping.LinkID(key[len(prefix)+1:]))
	}
	return ids
}

// Wake makes the i-th waiting key (from 0) due. Later changes go before it, and so do live keys that
// waited for less than [rules.StaysLive].
func (w Work) Wake(now int64, i int, perSecond float64) Work {
	if !w.Bulk && now-w.Due < int64(rules.StaysLive) {
		return w.Queue(now)
	}
	w.Bulk = true
	return w.Queue(now + int64(rules.WakeDelay(i, perSecond)))
}

// ParkedAt is a parked key and the time when it was parked.
type ParkedAt struct {
	Link mapping.LinkID
	At   time.Time
}

// ParkedKeys visits the parked keys, oldest first.
func ParkedKeys(lists Lists) iter.Seq[ParkedAt] {
	return func(yield func(ParkedAt) bool) {
		for key := range lists.Ascend(ParkedList, "") {
			if !yield(ParkedAt{mapping.LinkID(key[8:]), time.Unix(0, timeOf(key))}) {
				return
			}
		}
	}
}

// Depth describes the queue.
func Depth(lists Lists, now int64) store.Depth {
	d := store.Depth{Waiting: map[string]int{}, Oldest: Oldest(lists, now)}
	for key := range lists.Ascend(DueList, "") {
		due := timeOf(key[1:])
		switch {
		case key[0] == 0:
			d.Live++
		case due <= now:
			d.Due++
			fallthrough
		default:
			d.Bulk++
		}
	}
	for key := range lists.Ascend(WaitingList, "") {
		service, _, _ := strings.Cut(key, "\x00")
		d.Waiting[service]++
	}
	for range lists.Ascend(ParkedList, "") {
		d.Failures++
	}
	return d
}

// Oldest returns when the key that is overdue longest became due; zero: none is overdue.
func Oldest(lists Lists, now int64) (oldest time.Time) {
	for _, class := range []string{"\x00", "\x01"} {
		for key := range lists.Ascend(DueList, class) {
			if due := timeOf(key[1:]); key[:1] == class && due <= now && (oldest.IsZero() || due < oldest.UnixNano()) {
				oldest = time.Unix(0, due)
			}
			break
		}
	}
	return oldest
}

// Index is what Resolve reads.
type Index interface {
	// Owner returns the link that has an item, or "".
	Owner(ref mapping.Ref) mapping.LinkID
	// Exists reports whether there is such a link.
	Exists(id mapping.LinkID) bool
}

// Resolve finds the link of an observation, or "". It tries the Refs in order, then the marker's
// link, then the Refs of Create, so that nothing is created twice.
func Resolve(index Index, o *store.Observation) mapping.LinkID {
	if id := owner(index, o.Refs); id != "" {
		return id
	}
	if o.Link != "" && index.Exists(o.Link) {
		return o.Link
	}
	if o.Create == nil {
		return ""
	}
	if id := owner(index, o.Create.Refs()); id != "" {
		return id
	}
	if index.Exists(o.Create.ID) {
		return o.Create.ID
	}
	return ""
}

func owner(index Index, refs []mapping.Ref) mapping.LinkID {
	for _, ref := range refs {
		if id := index.Owner(ref); id != "" {
			return id
		}
	}
	return ""
}
