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

// Scrub implements [store.Store]. It copies the file, and the copy replaces the original: freed
// pages keep their bytes as long as the file exists. Nothing is read or written meanwhile.
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

// replace fills a new file beside the store's own, with suffix at the end of its name, and then
// moves it to the store's path. The caller holds the file lock.
func (s *Store) replace(suffix string, fill func(*bbolt.DB) error) error {
	path := s.path + suffix
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // left by a process that ended meanwhile
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
	s.db, s.opened, s.damaged = fresh, opened, nil
	return errors.Join(closeDB(old), syncDir(filepath.Dir(s.path)))
}

// syncDir makes a rename durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
