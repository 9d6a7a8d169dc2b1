package boltstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"planbridge/mapping"
	"planbridge/store"
)

// dumpPage is how many records one transaction of a dump reads. Writes during a longer one would
// make the file grow.
const dumpPage = 200

// dumped is a bucket in a dump. take appends the entries of one record to a page.
type dumped struct {
	bucket string
	take   func(sp space, page []store.Entry, k, v []byte) []store.Entry
}

// dumpOrder lists the dumped buckets in order.
var dumpOrder = []dumped{
	{"docs", takeDocument}, {"marks", takeMark}, {"seen", takeDelivery}, {"links", takeRecord}, {"ledger", takeConflict},
}

// Dump implements [store.Dumps].
func (s *Store) Dump(ctx context.Context, visit func(store.Entry) error) error {
	projects, err := s.spaces(ctx)
	if err != nil {
		return fmt.Errorf("dump store %s: %w", s.path, err)
	}
	for _, d := range dumpOrder {
		for _, project := range projects {
			if err := s.dump(ctx, project, d, visit); err != nil {
				return fmt.Errorf("dump %s of project %s: %w", d.bucket, project, err)
			}
		}
	}
	return nil
}

// spaces lists the projects in the file.
func (s *Store) spaces(ctx context.Context) (projects []mapping.ObjectID, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			if project, ok := strings.CutPrefix(string(name), projectPrefix); ok {
				projects = append(projects, mapping.ObjectID(project))
			}
			return nil
		})
	})
	return projects, err
}

// dump visits one bucket of a project, page by page.
func (s *Store) dump(ctx context.Context, project mapping.ObjectID, d dumped, visit func(store.Entry) error) error {
	var last []byte
	for more := true; more; {
		var page []store.Entry
		err := s.read(ctx, project, func(sp space) error {
			page, last, more = sp.page(d, last)
			return nil
		})
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := visit(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// page reads entries from the records of a bucket after last. It returns the last key read, and
// whether there may be more.
func (sp space) page(d dumped, last []byte) ([]store.Entry, []byte, bool) {
	var page []store.Entry
	c := sp.b(d.bucket).Cursor()
	k, v := c.Seek(last)
	if last != nil && bytes.Equal(k, last) {
		k, v = c.Next()
	}
	n := 0
	for ; k != nil && n < dumpPage; k, v = c.Next() {
		page, last = d.take(sp, page, k, v), bytes.Clone(k)
		n++
	}
	return page, last, n == dumpPage
}

func takeDocument(sp space, page []store.Entry, k, v []byte) []store.Entry {
	return append(page, store.Entry{Project: sp.project, Document: &store.Document{Name: string(k), Data: bytes.Clone(v)}})
}

func takeMark(sp space, page []store.Entry, k, v []byte) []store.Entry {
	set, id, _ := strings.Cut(string(k), "\x00")
	if len(page) == 0 || page[len(page)-1].Marks.Set != set {
		page = append(page, store.Entry{Project: sp.project, Marks: &store.MarkSet{Set: set, Marks: map[string]string{}}})
	}
	page[len(page)-1].Marks.Marks[id] = string(v)
	return page
}

func takeDelivery(sp space, page []store.Entry, k, v []byte) []store.Entry {
	if len(page) == 0 {
		page = []store.Entry{{Project: sp.project}}
	}
	page[0].Deliveries = append(page[0].Deliveries, store.Delivery{Key: bytes.Clone(k), At: time.Unix(0, fromBE64(v)).UTC()})
	return page
}

func takeRecord(sp space, page []store.Entry, k, _ []byte) []store.Entry {
	id := mapping.LinkID(k)
	l, err := sp.link(id)
	if err != nil {
		return append(page, store.Entry{Project: sp.project, Spoilt: err.Error()})
	}
	r := &store.Record{Link: l}
	var spoilt error
	if _, err := get(sp.b("history"), k, &r.History); err != nil {
		spoilt = fmt.Errorf("history of link %s/%s: %w", sp.project, id, err)
	}
	w, err := sp.work(id)
	switch {
	case err != nil:
		spoilt, r.Place, r.Due = errors.Join(spoilt, err), store.Queued, time.Unix(0, sp.now).UTC()
	case w != nil:
		w.Dump(r, sp.now)
		all := sp.events(id, w)
		r.Events, r.Own = all[:len(w.Events):len(w.Events)], all[len(w.Events):]
	}
	page = append(page, store.Entry{Project: sp.project, Record: r})
	if spoilt != nil {
		page = append(page, store.Entry{Project: sp.project, Spoilt: spoilt.Error()})
	}
	return page
}

func takeConflict(sp space, page []store.Entry, k, v []byte) []store.Entry {
	c := new(mapping.Conflict)
	err := errCut
	if len(v) >= orderLen {
		err = json.Unmarshal(v[orderLen:], c)
	}
	if err != nil {
		return append(page, store.Entry{Project: sp.project, Spoilt: fmt.Sprintf("conflict %s/%s: %v", sp.project, k, err)})
	}
	return append(page, store.Entry{Project: sp.project, Conflict: c})
}
