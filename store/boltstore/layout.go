package boltstore

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/queue"
	"planbridge/store/internal/rules"
)

// The file's layout. Times are Unix nanoseconds, in keys as 8 bytes big endian.
//
//	meta                          schema, epoch, for a moment a probe of the room
//	leases     name             → JSON {owner, until}
//	budgets    name             → JSON, the items of the last hour and who shares them (see budget.go)
//	holds      name             → until when it is closed
//	p:<project>                   one bucket per project, "" included, with
//	  links    link             → JSON mapping.Link
//	  work     link             → work: its queue state and inbox, and which events wait (see workcodec.go)
//	  events   link 0 number    → an event
//	  history  link             → JSON []mapping.Entry, oldest first
//	  refs     ref              → link
//	  traits   trait 0 link     → the links by the traits of their issues
//	  queue    class time link  → the due keys; class is 0 live, 1 bulk; a leased one stands at its lease's end
//	  waiting  service 0 class link
//	  failed   time link        → the parked keys, by when they were parked
//	  counts   "queued"         → how many keys stand in queue and waiting
//	           "links " class   → how many links have a class: a state, a space and a route
//	           "failed " route  → how many keys of a route are parked
//	           "until"          → the link up to which an earlier program's links are indexed; none: all are
//	  seen     delivery         → time
//	  seentime time delivery    → the same, to forget the oldest
//	  ledger   id               → order and JSON mapping.Conflict
//	  ledgerby order id         → order is the entry's time as sortable text
//	  docs     name             → document
//	  marks    set 0 id         → text
var (
	bucketMeta    = []byte("meta")
	bucketLeases  = []byte("leases")
	bucketBudgets = []byte("budgets")
	bucketHolds   = []byte("holds")
	metaSchema    = []byte("schema")
	metaEpoch     = []byte("epoch")
	metaProbe     = []byte("probe")
	countQueued   = []byte("queued")
	countUntil    = []byte("until")
)

// projectPrefix opens the name of a project's bucket.
const projectPrefix = "p:"

// space is one project's part of the file inside one transaction.
type space struct {
	project mapping.ObjectID
	*bbolt.Bucket
	now   int64
	limit int
}

var spaceBuckets = []string{
	"links", "work", "history", "refs", "traits", "queue", "waiting", "failed", "counts",
	"events", "seen", "seentime", "ledger", "ledgerby", "docs", "marks",
}

// in runs fn on a project's space in a write transaction.
func (s *Store) in(ctx context.Context, project mapping.ObjectID, fn func(space) error) error {
	return s.update(ctx, func(tx *bbolt.Tx) error {
		sp, err := s.space(tx, project)
		if err != nil {
			return err
		}
		return fn(sp)
	})
}

// space returns a project's part of the file, and makes it where it is missing.
func (s *Store) space(tx *bbolt.Tx, project mapping.ObjectID) (space, error) {
	name := []byte(projectPrefix + project)
	b := tx.Bucket(name)
	if b == nil {
		var err error
		if b, err = tx.CreateBucket(name); err != nil {
			return space{}, err
		}
		if err := complete(b); err != nil {
			return space{}, err
		}
	}
	return space{project, b, s.clock.Now().UnixNano(), s.limit}, nil
}

// read runs fn on a project's space in a read transaction. It does not run fn where the project
// has none.
func (s *Store) read(ctx context.Context, project mapping.ObjectID, fn func(space) error) error {
	return s.view(ctx, func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(projectPrefix + project))
		if b == nil {
			return nil
		}
		return fn(space{project, b, s.clock.Now().UnixNano(), s.limit})
	})
}

func (sp space) b(name string) *bbolt.Bucket { return sp.Bucket.Bucket([]byte(name)) }

// get decodes the JSON under key; false where there is none.
func get(b *bbolt.Bucket, key []byte, v any) (bool, error) {
	data := b.Get(key)
	if data == nil {
		return false, nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("record %q: %w", key, err)
	}
	return true, nil
}

func put(b *bbolt.Bucket, key []byte, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("record %q: %w", key, err)
	}
	return b.Put(key, data)
}

func be64(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func fromBE64(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

// link reads a link, or [store.ErrNotFound].
func (sp space) link(id mapping.LinkID) (*mapping.Link, error) {
	l := new(mapping.Link)
	ok, err := get(sp.b("links"), []byte(id), l)
	if err == nil && !ok {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("link %s/%s: %w", sp.project, id, err)
	}
	return l, nil
}

// putLink stores a link and makes its Refs the only ones indexed for it. It fails with
// [store.ErrConflict] where one belongs to another link.
func (sp space) putLink(l *mapping.Link) error {
	data, err := rules.EncodeLink(l)
	if err != nil {
		return err
	}
	return sp.putRecord(l, data)
}

// putRecord is putLink with the link's record, without a bound on its size.
func (sp space) putRecord(l *mapping.Link, data []byte) error {
	refs := sp.b("refs")
	old, err := sp.stored(l.ID)
	if err != nil {
		return err
	}
	keep := map[mapping.Ref]bool{}
	for _, ref := range l.Refs() {
		if owner := refs.Get([]byte(ref)); owner != nil && string(owner) != string(l.ID) {
			return fmt.Errorf("link %s/%s: %s of %s: %w", l.Project, l.ID, ref, owner, store.ErrConflict)
		}
		if err := refs.Put([]byte(ref), []byte(l.ID)); err != nil {
			return err
		}
		keep[ref] = true
	}
	if err := sp.unindex(old, keep); err != nil {
		return err
	}
	if err := sp.reindex(l.ID, old, l); err != nil {
		return err
	}
	return sp.b("links").Put([]byte(l.ID), data)
}

// stored returns the stored link, or nil.
func (sp space) stored(id mapping.LinkID) (*mapping.Link, error) {
	l, err := sp.link(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return l, err
}

// unindex removes the refs of a stored link, except those to keep.
func (sp space) unindex(old *mapping.Link, keep map[mapping.Ref]bool) error {
	if old == nil {
		return nil
	}
	refs := sp.b("refs")
	for _, ref := range old.Refs() {
		if keep[ref] || string(refs.Get([]byte(ref))) != string(old.ID) {
			continue
		}
		if err := refs.Delete([]byte(ref)); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes everything about a link.
func (sp space) remove(id mapping.LinkID, w *work) error {
	old, err := sp.stored(id)
	if err != nil {
		return err
	}
	if err := sp.unindex(old, nil); err != nil {
		return err
	}
	if err := sp.reindex(id, old, nil); err != nil {
		return err
	}
	w.Work = queue.Work{}
	if err := sp.putWork(id, w); err != nil {
		return err
	}
	for _, name := range []string{"links", "work", "history"} {
		if err := sp.b(name).Delete([]byte(id)); err != nil {
			return err
		}
	}
	return nil
}
