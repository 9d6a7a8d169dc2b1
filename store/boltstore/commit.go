package boltstore

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"planbridge/store"
)

// maxGroup bounds the operations in one transaction, and so how long the first one waits.
const maxGroup = 512

// write is an operation that waits for its commit. fn may run more than once; only its last run
// counts.
type write struct {
	fn   func(*bbolt.Tx) error
	done chan error
}

// update runs fn in a transaction that it may share with other operations. When update returns nil,
// the writes of fn are on the disk. After an error none of them is kept. update checks ctx only
// before the operation, which then runs to its end. Its outcome is therefore always known.
func (s *Store) update(ctx context.Context, fn func(*bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err // both cases below may be ready
	}
	w := write{fn, make(chan error, 1)}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.quit:
		return bolterrors.ErrDatabaseNotOpen
	case s.writes <- w:
		return <-w.done
	}
}

// view runs fn in a read transaction.
func (s *Store) view(ctx context.Context, fn func(*bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.file.RLock()
	defer s.file.RUnlock()
	if err := s.usable(); err != nil {
		return err
	}
	return s.db.View(fn)
}

// commitLoop commits the operations that came during the last sync as one group. Unlike bbolt's
// own Batch it never waits for more, so that a lone caller pays one fsync and no timer.
func (s *Store) commitLoop() {
	defer close(s.done)
	for {
		select {
		case <-s.quit:
			return
		case w := <-s.writes:
			s.commit(s.gather(w))
		}
	}
}

func (s *Store) gather(first write) []write {
	group := []write{first}
	for len(group) < maxGroup {
		select {
		case w := <-s.writes:
			group = append(group, w)
		default:
			return group
		}
	}
	return group
}

// commit makes a group durable. An operation that fails gets its error and leaves the group, and
// the others run again. The group is synced only when none fails.
func (s *Store) commit(group []write) {
	s.file.RLock()
	defer s.file.RUnlock()
	if err := s.usable(); err != nil {
		for _, w := range group {
			w.done <- err
		}
		return
	}
	for len(group) > 0 {
		failed := -1
		err := s.db.Update(func(tx *bbolt.Tx) error {
			for i, w := range group {
				if err := guarded(w.fn, tx); err != nil {
					failed = i
					return err
				}
			}
			return nil
		})
		if failed >= 0 {
			group[failed].done <- err
			group = slices.Delete(group, failed, failed+1)
			continue
		}
		if err != nil && lacksRoom(err) {
			s.full.Store(true)
			err = fmt.Errorf("%w: %w", store.ErrNoRoom, err)
		}
		for _, w := range group {
			w.done <- err
		}
		return
	}
}

// guarded runs an operation and turns its panic into an error.
func guarded(fn func(*bbolt.Tx) error, tx *bbolt.Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn(tx)
}
