package memstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/queue"
	"planbridge/store/internal/rules"
)

// dumpOrder lists the parts of a dump in order.
var dumpOrder = []func(sp *space, now int64) ([]store.Entry, error){
	dumpDocuments, dumpMarks, dumpDeliveries, dumpRecords, dumpLedger,
}

// Dump implements [store.Dumps]. All entries are of one moment.
func (s *Store) Dump(ctx context.Context, visit func(store.Entry) error) error {
	var all *content
	var moment int64
	err := s.read(ctx, "", func(_ *space, now int64) error {
		all, moment = s.memory.content.clone(), now
		return nil
	})
	if err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	for _, dump := range dumpOrder {
		for project, sp := range all.Projects.ascend("") {
			entries, err := dump(sp, moment)
			if err != nil {
				return fmt.Errorf("dump of project %s: %w", project, err)
			}
			for _, e := range entries {
				e.Project = mapping.ObjectID(project)
				if err := visit(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func dumpDocuments(sp *space, _ int64) (all []store.Entry, err error) {
	for name, data := range sp.Docs.ascend("") {
		all = append(all, store.Entry{Document: &store.Document{Name: name, Data: bytes.Clone(data)}})
	}
	return all, nil
}

func dumpMarks(sp *space, _ int64) (all []store.Entry, err error) {
	for key, text := range sp.Marks.ascend("") {
		set, id, _ := strings.Cut(key, "\x00")
		if len(all) == 0 || all[len(all)-1].Marks.Set != set {
			all = append(all, store.Entry{Marks: &store.MarkSet{Set: set, Marks: map[string]string{}}})
		}
		all[len(all)-1].Marks.Marks[id] = text
	}
	return all, nil
}

func dumpDeliveries(sp *space, _ int64) ([]store.Entry, error) {
	var some []store.Delivery
	for key, at := range sp.Seen.ascend("") {
		some = append(some, store.Delivery{Key: []byte(key), At: time.Unix(0, at).UTC()})
	}
	if some == nil {
		return nil, nil
	}
	return []store.Entry{{Deliveries: some}}, nil
}

func dumpRecords(sp *space, now int64) (all []store.Entry, err error) {
	for id, r := range sp.Links.ascend("") {
		e := &store.Record{}
		if e.Link, err = sp.link(mapping.LinkID(id)); err != nil {
			return nil, err
		}
		if e.History, err = rules.DecodeHistory(r.History); err != nil {
			return nil, err
		}
		r.Work.Dump(e, now)
		for item, s := range e.Inbox {
			s.Data = bytes.Clone(s.Data)
			e.Inbox[item] = s
		}
		e.Events, e.Own = texts(r.Work.Events), texts(r.Work.Own)
		all = append(all, store.Entry{Record: e})
	}
	return all, nil
}

// texts copies the data of events.
func texts(events []queue.Event) (all [][]byte) {
	for _, e := range events {
		all = append(all, bytes.Clone(e.Data))
	}
	return all
}

func dumpLedger(sp *space, _ int64) (all []store.Entry, err error) {
	for _, stored := range sp.Conflicts.ascend("") {
		c := new(mapping.Conflict)
		if err := json.Unmarshal(stored.Entry, c); err != nil {
			return nil, err
		}
		all = append(all, store.Entry{Conflict: c})
	}
	return all, nil
}

// Load implements [store.Dumps]. After an error the store is unchanged. A poller holds a lease:
// while there is a lease, others may be using the store.
func (s *Store) Load(ctx context.Context, entries iter.Seq2[store.Entry, error], replace bool) error {
	fresh := &content{}
	err := fresh.fill(s.memory.clock.Now().UnixNano(), entries)
	if err == nil {
		err = s.read(ctx, "", func(_ *space, now int64) error {
			if err := s.memory.content.mayLoad(now, replace); err != nil {
				return err
			}
			s.memory.content = fresh
			s.memory.incarnation++
			s.acceptEpoch()
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return nil
}

// fill stores entries.
func (c *content) fill(now int64, entries iter.Seq2[store.Entry, error]) error {
	for e, err := range entries {
		if err != nil {
			return err
		}
		if err := c.load(&e, now); err != nil {
			return err
		}
	}
	return nil
}

// mayLoad fails where others use the store, or where it has data that must not be replaced.
func (c *content) mayLoad(now int64, replace bool) error {
	for name, l := range c.Leases.ascend("") {
		if l.Until > now {
			return fmt.Errorf("%w: %s has the lease %s", store.ErrInUse, l.Owner, name)
		}
	}
	for _, sp := range c.Projects.ascend("") {
		if !replace && len(sp.Docs.rows)+len(sp.Marks.rows)+len(sp.Seen.rows)+len(sp.Links.rows)+len(sp.Conflicts.rows) > 0 {
			return store.ErrNotEmpty
		}
	}
	return nil
}

// load stores an entry.
func (c *content) load(e *store.Entry, now int64) error {
	sp := c.space(e.Project)
	c.Projects.put(string(e.Project), sp)
	switch {
	case e.Document != nil:
		sp.Docs.put(e.Document.Name, append([]byte{}, e.Document.Data...))
	case e.Marks != nil:
		sp.putMarks(e.Marks.Set, e.Marks.Marks)
	case e.Record != nil:
		return sp.loadRecord(e.Project, e.Record, now)
	case e.Conflict != nil:
		return sp.putConflict(*e.Conflict)
	}
	for _, d := range e.Deliveries {
		sp.putDelivery(string(d.Key), d.At.UnixNano())
	}
	return nil
}

func (sp *space) loadRecord(project mapping.ObjectID, r *store.Record, now int64) error {
	l := r.Link
	if err := rules.CheckLink(store.Key{Project: project, Link: l.ID}, l); err != nil {
		return err
	}
	for _, ref := range l.Refs() {
		sp.Refs.remove(string(ref))
	}
	data, err := json.Marshal(l)
	if err == nil {
		err = sp.putRecord(l, data) // no bounds: the backup may be older than they are
	}
	if err != nil {
		return err
	}
	if err := sp.addHistory(l.ID, r.History, true); err != nil {
		return err
	}
	w := queue.Load(r, now)
	for i := range w.Inbox {
		w.Inbox[i].Data = bytes.Clone(w.Inbox[i].Data)
	}
	sp.putWork(l.ID, w)
	return nil
}
