package boltstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// scrubBatch bounds the bytes of one transaction of the copy.
const scrubBatch = 1 << 20

// Scrub implements [store.Store]. The file is copied and the copy takes its
// place: pages that were freed keep their bytes for as long as the file lives.
// Nothing is read or written meanwhile.
func (s *Store) Scrub(context.Context) error {
	s.file.Lock()
	defer s.file.Unlock()
	err := s.usable()
	if err == nil {
		err = s.replace(".scrub", func(fresh *bbolt.DB) error { return bbolt.Compact(fresh, s.db, scrubBatch) })
	}
	if err != nil {
		return fmt.Errorf("scrub store %s: %w", s.path, err)
	}
	return nil
}

// replace makes a new file beside the store's own, whose name it ends with suffix, and
// puts it in its place once fill has filled it. It is to be called with the file locked.
func (s *Store) replace(suffix string, fill func(*bbolt.DB) error) error {
	path := s.path + suffix
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // of a process that ended meanwhile
	}
	fresh, err := bbolt.Open(path, 0o600, fileOptions())
	if err != nil {
		return err
	}
	err = fill(fresh)
	if err == nil {
		err = fresh.Sync()
	}
	var opened os.FileInfo
	if err == nil {
		opened, err = os.Stat(path)
	}
	if err == nil {
		err = os.Rename(path, s.path)
	}
	if err != nil {
		return errors.Join(err, fresh.Close(), os.Remove(path))
	}
	old := s.db
	s.db, s.opened = fresh, opened
	return errors.Join(old.Close(), syncDir(filepath.Dir(s.path)))
}

// syncDir makes a rename durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
