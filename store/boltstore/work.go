package boltstore

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"go.etcd.io/bbolt"

	"planbridge/mapping"
	"planbridge/store/internal/queue"
)

// work is the queue's state of a link, and its stored part. An event has Data only until it is
// stored in its own record.
type work struct {
	queue.Work
	entry  queue.Entry // the stored position in the lists
	stored []int64     // the events with a stored record
}

// eachEvent visits all events, those of the bridge's own account last.
func (w *work) eachEvent(visit func(*queue.Event)) {
	for _, events := range [][]queue.Event{w.Events, w.Own} {
		for i := range events {
			visit(&events[i])
		}
	}
}

// work reads a key's queue state; nil where there is no such link.
func (sp space) work(id mapping.LinkID) (*work, error) {
	data := sp.b("work").Get([]byte(id))
	if data == nil {
		return nil, nil
	}
	read, err := decodeWork(data)
	if err != nil {
		return nil, fmt.Errorf("work %s/%s: %w", sp.project, id, err)
	}
	w := &work{Work: read, entry: read.Entry(id)}
	w.eachEvent(func(e *queue.Event) {
		if e.Data == nil {
			w.stored = append(w.stored, e.Gen)
		}
	})
	return w, nil
}

// putWork stores a key's queue state and moves its entry in the lists.
func (sp space) putWork(id mapping.LinkID, w *work) error {
	if err := sp.putEvents(id, w); err != nil {
		return err
	}
	if err := sp.b("work").Put([]byte(id), encodeWork(w.Work)); err != nil {
		return err
	}
	was, is := w.entry, w.Entry(id)
	if was == is {
		return nil
	}
	w.entry = is
	if was.List != queue.NoList {
		if err := sp.list(was.List).Delete([]byte(was.Key)); err != nil {
			return err
		}
	}
	if is.List != queue.NoList {
		if err := sp.list(is.List).Put([]byte(is.Key), nil); err != nil {
			return err
		}
	}
	if err := sp.countParked(id, is.List == queue.ParkedList, was.List == queue.ParkedList); err != nil {
		return err
	}
	return sp.count(countQueued, counted(is)-counted(was))
}

func eventKey(id mapping.LinkID, gen int64) []byte {
	return []byte(string(id) + "\x00" + string(be64(gen)))
}

// putEvents stores new events and deletes removed ones.
func (sp space) putEvents(id mapping.LinkID, w *work) error {
	if len(w.stored)+len(w.Events)+len(w.Own) == 0 {
		return nil
	}
	events := sp.b("events")
	for _, gen := range w.stored {
		is := func(e queue.Event) bool { return e.Gen == gen }
		if slices.ContainsFunc(w.Events, is) || slices.ContainsFunc(w.Own, is) {
			continue
		}
		if err := events.Delete(eventKey(id, gen)); err != nil {
			return err
		}
	}
	w.stored = nil
	var err error
	w.eachEvent(func(e *queue.Event) {
		if w.stored = append(w.stored, e.Gen); e.Data != nil && err == nil {
			err = events.Put(eventKey(id, e.Gen), e.Data)
			e.Data = nil
		}
	})
	return err
}

// events reads the events of a stored work.
func (sp space) events(id mapping.LinkID, w *work) [][]byte {
	var all [][]byte
	b := sp.b("events")
	w.eachEvent(func(e *queue.Event) { all = append(all, bytes.Clone(b.Get(eventKey(id, e.Gen)))) })
	return all
}

func counted(e queue.Entry) int64 {
	if e.List.Counts() {
		return 1
	}
	return 0
}

func (sp space) list(l queue.List) *bbolt.Bucket { return sp.b(string(l)) }

// Ascend implements [queue.Lists].
func (sp space) Ascend(list queue.List, from string) iter.Seq[string] {
	return func(yield func(string) bool) {
		c := sp.list(list).Cursor()
		for k, _ := c.Seek([]byte(from)); k != nil && yield(string(k)); k, _ = c.Next() {
		}
	}
}

// Descend implements [queue.Lists].
func (sp space) Descend(list queue.List, before string) iter.Seq[string] {
	return func(yield func(string) bool) {
		c := sp.list(list).Cursor()
		k, _ := c.Seek([]byte(before))
		if k == nil {
			k, _ = c.Last()
		} else {
			k, _ = c.Prev()
		}
		for ; k != nil && yield(string(k)); k, _ = c.Prev() {
		}
	}
}

// count changes a number. A number of 0 is deleted.
func (sp space) count(name []byte, change int64) error {
	n := sp.number(name) + change
	switch {
	case change == 0:
		return nil
	case n == 0:
		return sp.b("counts").Delete(name)
	}
	return sp.b("counts").Put(name, be64(n))
}

func (sp space) number(name []byte) int64 {
	if v := sp.b("counts").Get(name); v != nil {
		return fromBE64(v)
	}
	return 0
}

// queued returns how many keys count against the queue's bound.
func (sp space) queued() int { return int(sp.number(countQueued)) }
