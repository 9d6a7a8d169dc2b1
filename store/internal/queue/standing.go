package queue

import (
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// Standing returns the key's state. The caller adds the link's part.
func (w Work) Standing(key store.Key, now int64) store.Standing {
	s := store.Standing{Key: key, State: store.KeyResting, Attempts: w.Failures()}
	switch {
	case w.Leased(now):
		s.State = store.KeyWorked
	case w.Place == Queued && w.Due <= now:
		s.State = store.KeyDue
	case w.Place == Queued:
		s.State = store.KeyLater
	case w.Place == Waiting:
		s.State, s.Service = store.KeyWaiting, w.Service
	case w.Place == Parked:
		s.State = store.KeyParked
	}
	if s.State != store.KeyResting && w.Due != 0 {
		s.At = time.Unix(0, w.Due)
	}
	s.Reason = rules.Why(s.State, s.Service, w.Reason)
	return s
}

// Part selects keys in the queue, at most limit of each kind.
type Part func(lists Lists, now int64, limit int) []mapping.LinkID

// All lists all keys in the queue, in the order of [NotDue].
func All(lists Lists, _ int64, limit int) []mapping.LinkID { return NotDue(lists, -1, limit) }

// NotDue lists the keys in the queue that are not due. It lists at most limit each of the keys that
// wait for a service, of live ones, and of bulk ones, latest due first.
func NotDue(lists Lists, now int64, limit int) (ids []mapping.LinkID) {
	n := 0
	for key := range lists.Ascend(WaitingList, "") {
		if n++; n > limit {
			break
		}
		_, classed, _ := strings.Cut(key, "\x00")
		ids = append(ids, mapping.LinkID(classed[1:]))
	}
	for class := range byte(2) {
		n, due := 0, string(class)+order(now+1)
		for key := range lists.Descend(DueList, string(class+1)) {
			if n++; n > limit || key < due {
				break
			}
			ids = append(ids, LinkOf(key))
		}
	}
	return ids
}
