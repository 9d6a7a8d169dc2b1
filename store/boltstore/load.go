package boltstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/queue"
	"planbridge/store/internal/rules"
)

// loadBatch is how many entries one transaction of a load stores.
const loadBatch = 256

// Load implements [store.Dumps]. It fills a new file, which then replaces the old one.
func (s *Store) Load(ctx context.Context, entries iter.Seq2[store.Entry, error], replace bool) error {
	s.file.Lock()
	defer s.file.Unlock()
	err := s.usable()
	if replace && errors.Is(err, store.ErrDamaged) {
		err = nil
	}
	if err == nil && !replace {
		err = s.db.View(empty)
	}
	if err == nil {
		err = s.replace(".load", func(fresh *bbolt.DB) error { return s.fill(ctx, fresh, entries) })
	}
	if err != nil {
		return fmt.Errorf("load store %s: %w", s.path, err)
	}
	s.incarnation = mapping.NewID()
	return nil
}

// empty fails where a project has any data.
func empty(tx *bbolt.Tx) error {
	return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if !bytes.HasPrefix(name, []byte(projectPrefix)) {
			return nil
		}
		for _, d := range dumpOrder {
			if k, _ := b.Bucket([]byte(d.bucket)).Cursor().First(); k != nil {
				return store.ErrNotEmpty
			}
		}
		return nil
	})
}

// fill fills a new file with entries.
func (s *Store) fill(ctx context.Context, fresh *bbolt.DB, entries iter.Seq2[store.Entry, error]) error {
	if err := fresh.Update(prepare); err != nil {
		return err
	}
	batch := make([]store.Entry, 0, loadBatch)
	flush := func() error {
		defer func() { batch = batch[:0] }()
		return fresh.Update(func(tx *bbolt.Tx) error {
			for _, e := range batch {
				sp, err := s.space(tx, e.Project)
				if err != nil {
					return err
				}
				if err := sp.load(&e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		if batch = append(batch, e); len(batch) < loadBatch {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return flush()
}

// load stores an entry.
func (sp space) load(e *store.Entry) error {
	switch {
	case e.Document != nil:
		return sp.b("docs").Put([]byte(e.Document.Name), e.Document.Data)
	case e.Marks != nil:
		return sp.putMarks(e.Marks.Set, e.Marks.Marks)
	case e.Record != nil:
		return sp.loadRecord(e.Record)
	case e.Conflict != nil:
		return sp.putConflict(*e.Conflict)
	}
	for _, d := range e.Deliveries {
		if err := sp.putDelivery(d.Key, d.At.UnixNano()); err != nil {
			return err
		}
	}
	return nil
}

func (sp space) loadRecord(r *store.Record) error {
	l := r.Link
	if err := rules.CheckLink(store.Key{Project: sp.project, Link: l.ID}, l); err != nil {
		return err
	}
	for _, ref := range l.Refs() {
		if err := sp.b("refs").Delete([]byte(ref)); err != nil {
			return err
		}
	}
	data, err := json.Marshal(l)
	if err == nil {
		err = sp.putRecord(l, data) // no bounds: the backup may be older than they are
	}
	if err != nil {
		return err
	}
	if err := sp.addHistory(l.ID, r.History); err != nil {
		return err
	}
	w, err := sp.work(l.ID)
	if err != nil {
		return err
	}
	if w == nil {
		w = new(work)
	}
	w.Work = queue.Load(r, sp.now)
	return sp.putWork(l.ID, w)
}
