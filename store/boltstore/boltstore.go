// Package boltstore is a store in one file, for one process. Its entry point is [Open].
//
// layout.go describes the file's layout. file.go notices a file that was replaced.
// store/internal/queue has the rules for a queued key. The other files read and write. Every
// operation is one transaction. Operations that wait at the same time share one fsync
// (commit.go).
package boltstore

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"planbridge/store"
)

// lockWait is how long Open waits for another process to release the file. It is long enough for
// a predecessor that is stopping.
const lockWait = 2 * time.Second

// Options configure a store. The zero value is useful.
type Options struct {
	Logger *slog.Logger // nil: silent
	// QueueLimit bounds the queued keys of a project, those that wait for a service included. 0:
	// no bound.
	QueueLimit int
	// Clock is the store's clock; nil: the runtime's.
	Clock store.Clock
	// Damaged also opens a damaged file, for a Load that replaces it.
	Damaged bool
}

// runtimeClock is the runtime's clock.
type runtimeClock struct{}

// Now implements [store.Clock].
func (runtimeClock) Now() time.Time { return time.Now() }

// Store is a [store.Store] in one file. It is safe for concurrent use.
type Store struct {
	path  string
	clock store.Clock

	file   sync.RWMutex // guards the fields below: Adopt may replace them
	db     *bbolt.DB
	opened os.FileInfo
	lost   bool // the file was deleted or replaced
	// damaged refuses everything but a Load that replaces the file; db is nil.
	damaged error
	// incarnation changes with each opening of the file.
	incarnation string

	limit  int
	full   atomic.Bool // a write was refused for lack of room; Ping clears it
	writes chan write
	quit   chan struct{}
	done   chan struct{}
	close  func() error
}

var _ store.Store = (*Store)(nil)

// Open opens the store in the file path, and makes it where there is none. The error is
// [store.ErrInUse] while another process holds the file. It is [store.ErrSchema] when a newer
// program wrote it, and [store.ErrDamaged] when bbolt cannot read it.
func Open(path string, o Options) (*Store, error) {
	s := &Store{
		path: path, clock: o.Clock, limit: o.QueueLimit,
		writes: make(chan write), quit: make(chan struct{}), done: make(chan struct{}),
	}
	if s.clock == nil {
		s.clock = runtimeClock{}
	}
	switch err := s.open(s.takeOver); {
	case o.Damaged && errors.Is(err, store.ErrDamaged):
		s.damaged = err
	case err != nil:
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	s.close = sync.OnceValue(func() error {
		close(s.quit)
		<-s.done
		s.file.Lock()
		defer s.file.Unlock()
		return closeDB(s.db)
	})
	go s.commitLoop()
	if o.Logger != nil && s.damaged == nil {
		o.Logger.Info("store opened", "path", path, "bytes", s.size())
	}
	return s, nil
}

// closeDB closes a file; nil: there is none.
func closeDB(db *bbolt.DB) error {
	if db == nil {
		return nil
	}
	return db.Close()
}

func (s *Store) size() (n int64) {
	s.db.View(func(tx *bbolt.Tx) error { n = tx.Size(); return nil }) //nolint:errcheck // for a log line only
	return n
}

// Close ends the store after the running operations. It may be called more than once.
func (s *Store) Close() error { return s.close() }
