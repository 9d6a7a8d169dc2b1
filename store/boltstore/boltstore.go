// Package boltstore keeps planbridge's memory in one file, for one process. Its
// door is [Open].
//
// The file's layout is in layout.go; work.go says what happens to a queued key
// in each event of its life, and the other files read and write around that.
// Every operation is one transaction; those that wait at the same time share
// one fsync (commit.go).
package boltstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// lockWait is how long Open waits for another process to let go of the file:
// long enough for a predecessor that is just stopping.
const lockWait = 2 * time.Second

// ErrInUse: another process holds the file.
var ErrInUse = errors.New("another process uses it")

// Options say how a store is opened. The zero value is useful.
type Options struct {
	Logger *slog.Logger // nil: silent
	// QueueLimit bounds the queued keys of a project, those that wait for a
	// service included. 0: no bound.
	QueueLimit int
	// Clock is the store's clock; nil: time.Now.
	Clock func() time.Time
}

// Store is a [store.Store] in one file. It is safe for concurrent use.
type Store struct {
	db     *bbolt.DB
	path   string
	opened os.FileInfo
	clock  func() time.Time
	limit  int
	writes chan write
	quit   chan struct{}
	done   chan struct{}
	close  func() error
}

var _ store.Store = (*Store)(nil)

// Open opens the store in the file path, making it where there is none. It
// fails with [ErrInUse] when another process holds the file, with [store.ErrSchema] when a
// newer program wrote it.
func Open(path string, o Options) (*Store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout:        lockWait,
		NoFreelistSync: true, // fewer pages per commit; the list is rebuilt when opening
		FreelistType:   bbolt.FreelistMapType,
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("open store %s: %w", path, ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	s := &Store{
		db: db, path: path, clock: o.Clock, limit: o.QueueLimit,
		writes: make(chan write), quit: make(chan struct{}), done: make(chan struct{}),
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", path, err), db.Close())
	}
	s.close = sync.OnceValue(func() error {
		close(s.quit)
		<-s.done
		return s.db.Close()
	})
	go s.commitLoop()
	if o.Logger != nil {
		o.Logger.Info("store opened", "path", path, "bytes", s.size())
	}
	return s, nil
}

// prepare checks the schema and gives a new file its epoch.
func (s *Store) prepare() (err error) {
	if s.opened, err = os.Stat(s.path); err != nil {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucketIfNotExists(bucketMeta)
		if err != nil {
			return err
		}
		if v := meta.Get(metaSchema); v != nil {
			if n, err := strconv.Atoi(string(v)); err != nil || n > rules.Schema {
				return fmt.Errorf("schema %s, this program knows %d: %w", v, rules.Schema, store.ErrSchema)
			}
			return nil
		}
		if err := meta.Put(metaEpoch, []byte(mapping.NewID())); err != nil {
			return err
		}
		return meta.Put(metaSchema, []byte(strconv.Itoa(rules.Schema)))
	})
}

func (s *Store) size() (n int64) {
	s.db.View(func(tx *bbolt.Tx) error { n = tx.Size(); return nil }) //nolint:errcheck // for a log line only
	return n
}

// Close ends the store after the operations under way. It may be called more
// than once.
func (s *Store) Close() error { return s.close() }

// Ping implements [store.Store]. It also notices that the file was taken away
// or replaced, for then what is written now is gone at the next start.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.update(ctx, func(*bbolt.Tx) error { return nil }); err != nil {
		return fmt.Errorf("store %s: %w", s.path, err)
	}
	now, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("store %s: %w", s.path, err)
	}
	if !os.SameFile(s.opened, now) {
		return fmt.Errorf("store %s: the file was replaced while it is open", s.path)
	}
	return nil
}

// Epoch implements [store.Store]. The file is locked while it is open, so its
// epoch never changes under a handle.
func (s *Store) Epoch(ctx context.Context) (epoch string, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		epoch = string(tx.Bucket(bucketMeta).Get(metaEpoch))
		return nil
	})
	return epoch, err
}

// Adopt implements [store.Store]; see Epoch.
func (s *Store) Adopt(ctx context.Context) (string, error) { return s.Epoch(ctx) }
