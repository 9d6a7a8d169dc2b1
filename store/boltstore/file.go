package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"planbridge/mapping"
	"planbridge/store"
)

// A file can be deleted, or another one put in its place, while it is open:
// what is written from then on would be gone at the next start. Ping and Epoch
// look for that; the handle then refuses everything until Adopt opens what is
// there now. A file that was put in place while no process had it open does not
// tell, so each opening is another incarnation.

// open opens the file, prepares it, and makes it the one that is used; the one that
// was used stays as it was on an error.
func (s *Store) open(prepare func(*bbolt.Tx) error) error {
	db, err := bbolt.Open(s.path, 0o600, fileOptions())
	if errors.Is(err, bolterrors.ErrTimeout) {
		return store.ErrInUse
	}
	if err != nil {
		return err
	}
	opened, err := os.Stat(s.path)
	if err == nil {
		err = db.Update(prepare)
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	s.db, s.opened, s.lost, s.incarnation = db, opened, false, mapping.NewID()
	return nil
}

func fileOptions() *bbolt.Options {
	return &bbolt.Options{
		Timeout:        lockWait,
		NoFreelistSync: true, // fewer pages per commit; the list is rebuilt when opening
		FreelistType:   bbolt.FreelistMapType,
	}
}

// fileSchema is the version of the file's layout. Files of lower versions get the
// buckets that they lack, and Repair indexes their links; programs that know those
// alone would not keep the indexes, and refuse the file.
const fileSchema = 4

// prepare checks the schema and gives a new file its epoch, and one of a lower
// schema what it lacks.
func prepare(tx *bbolt.Tx) error {
	meta, err := tx.CreateBucketIfNotExists(bucketMeta)
	if err != nil {
		return err
	}
	current := strconv.Itoa(fileSchema)
	switch v := meta.Get(metaSchema); {
	case v == nil:
		if err := meta.Put(metaEpoch, []byte(mapping.NewID())); err != nil {
			return err
		}
	case string(v) == current:
		return nil
	default:
		if n, err := strconv.Atoi(string(v)); err != nil || n > fileSchema {
			return fmt.Errorf("schema %s, this program knows %d: %w", v, fileSchema, store.ErrSchema)
		}
	}
	err = tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		if !bytes.HasPrefix(name, []byte(projectPrefix)) {
			return nil
		}
		if err := complete(b); err != nil {
			return err
		}
		return b.Bucket([]byte("counts")).Put(countUntil, until(""))
	})
	if err != nil {
		return err
	}
	return meta.Put(metaSchema, []byte(current))
}

// complete makes the buckets that a project has not.
func complete(b *bbolt.Bucket) error {
	for _, sub := range spaceBuckets {
		if _, err := b.CreateBucketIfNotExists([]byte(sub)); err != nil {
			return err
		}
	}
	return nil
}

// look compares the file in its place with the one that is open.
func (s *Store) look() error {
	s.file.Lock() // before the look: Scrub puts another file in place
	defer s.file.Unlock()
	now, err := os.Stat(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.lost = s.lost || err != nil || !os.SameFile(s.opened, now)
	return s.usable()
}

// usable is to be called with the file locked.
func (s *Store) usable() error {
	if s.lost {
		return fmt.Errorf("the file was deleted or replaced while it was open: %w", store.ErrEpoch)
	}
	return nil
}

// Ping implements [store.Store].
func (s *Store) Ping(ctx context.Context) error {
	err := s.look()
	if err == nil {
		err = s.update(ctx, func(*bbolt.Tx) error { return nil })
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", s.path, err)
	}
	return nil
}

// Epoch implements [store.Store].
func (s *Store) Epoch(ctx context.Context) (epoch string, err error) {
	if err = s.look(); err == nil {
		err = s.view(ctx, func(tx *bbolt.Tx) error {
			epoch = string(tx.Bucket(bucketMeta).Get(metaEpoch))
			return nil
		})
	}
	if err != nil {
		return "", fmt.Errorf("epoch of store %s: %w", s.path, err)
	}
	return epoch, nil
}

// Incarnation names this opening of the file. An old copy that was restored has
// the epoch of the file it is of, and no other sign.
func (s *Store) Incarnation(context.Context) (string, error) {
	s.file.RLock()
	defer s.file.RUnlock()
	return s.incarnation, nil
}

// Adopt implements [store.Store]: it opens the file that is there now, or makes
// one.
func (s *Store) Adopt(ctx context.Context) (string, error) {
	if err := s.reopen(); err != nil {
		return "", fmt.Errorf("adopt store %s: %w", s.path, err)
	}
	return s.Epoch(ctx)
}

func (s *Store) reopen() error {
	s.file.Lock()
	defer s.file.Unlock()
	if !s.lost {
		return nil
	}
	old := s.db
	// The leases stay: those of a copy may be this process's own, and be in use.
	if err := s.open(prepare); err != nil {
		return err
	}
	return old.Close()
}
