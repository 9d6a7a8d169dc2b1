// Package boltstore keeps planbridge's memory in one file, for one process. Its
// door is [Open].
//
// The file's layout is in layout.go; file.go says how a file that is not the
// one it was is noticed; store/internal/queue
// says what happens to a queued key in each event of its life, and the other
// files read and write around that.
// Every operation is one transaction; those that wait at the same time share
// one fsync (commit.go).
package boltstore

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"planbridge/store"
)

// lockWait is how long Open waits for another process to let go of the file:
// long enough for a predecessor that is just stopping.
const lockWait = 2 * time.Second

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
	path  string
	clock func() time.Time

	file   sync.RWMutex // guards what follows: Adopt may replace it
	db     *bbolt.DB
	opened os.FileInfo
	lost   bool // the file was taken away or replaced
	// incarnation is another for each opening of the file.
	incarnation string

	limit  int
	writes chan write
	quit   chan struct{}
	done   chan struct{}
	close  func() error
}

var _ store.Store = (*Store)(nil)

// Open opens the store in the file path, making it where there is none. It
// fails with [store.ErrInUse] when another process holds the file, with [store.ErrSchema] when a
// newer program wrote it.
func Open(path string, o Options) (*Store, error) {
	s := &Store{
		path: path, clock: o.Clock, limit: o.QueueLimit,
		writes: make(chan write), quit: make(chan struct{}), done: make(chan struct{}),
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if err := s.open(s.takeOver); err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	s.close = sync.OnceValue(func() error {
		close(s.quit)
		<-s.done
		s.file.Lock()
		defer s.file.Unlock()
		return s.db.Close()
	})
	go s.commitLoop()
	if o.Logger != nil {
		o.Logger.Info("store opened", "path", path, "bytes", s.size())
	}
	return s, nil
}

func (s *Store) size() (n int64) {
	s.db.View(func(tx *bbolt.Tx) error { n = tx.Size(); return nil }) //nolint:errcheck // for a log line only
	return n
}

// Close ends the store after the operations under way. It may be called more
// than once.
func (s *Store) Close() error { return s.close() }
