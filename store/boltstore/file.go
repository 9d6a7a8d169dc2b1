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

// A file can be deleted or replaced while it is open. Later writes would then be gone at the next
// start. Ping and Epoch check for that, and the handle then refuses everything until Adopt opens
// the present file. A file that was replaced while no process had it open shows no sign. Each
// opening is therefore another incarnation.

// open opens and prepares the file, and makes it the file in use. After an error the earlier one
// stays in use.
func (s *Store) open(prepare func(*bbolt.Tx) error) error {
	if err := checkPages(s.path); err != nil {
		return err
	}
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
		NoFreelistSync: true, // fewer pages a commit; opening rebuilds the list
		FreelistType:   bbolt.FreelistMapType,
	}
}

// fileSchema is the version of the file's layout. A file of a lower version gets the missing
// buckets, and Repair indexes its links. Programs of a lower version refuse the file, as they
// would not update the indexes.
const fileSchema = 4

// prepare checks the schema. It gives a new file its epoch, and an older one its missing buckets.
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

// complete makes the missing buckets of a project.
func complete(b *bbolt.Bucket) error {
	for _, sub := range spaceBuckets {
		if _, err := b.CreateBucketIfNotExists([]byte(sub)); err != nil {
			return err
		}
	}
	return nil
}

// checkFile compares the file at the path with the open one.
func (s *Store) checkFile() error {
	s.file.Lock() // lock first: Scrub replaces the file
	defer s.file.Unlock()
	now, err := os.Stat(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.lost = s.lost || err != nil || s.damaged == nil && !os.SameFile(s.opened, now)
	return s.usable()
}

// usable returns why the handle is refused. The caller holds the file lock.
func (s *Store) usable() error {
	if s.damaged != nil {
		return s.damaged
	}
	if s.lost {
		return fmt.Errorf("the file was deleted or replaced while it was open: %w", store.ErrEpoch)
	}
	return nil
}

// Ping implements [store.Store].
func (s *Store) Ping(ctx context.Context) error {
	err := s.checkFile()
	switch {
	case err != nil:
	case s.full.Load():
		err = s.probeRoom(ctx)
	default:
		err = s.update(ctx, func(*bbolt.Tx) error { return nil })
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", s.path, err)
	}
	return nil
}

// Epoch implements [store.Store].
func (s *Store) Epoch(ctx context.Context) (epoch string, err error) {
	if err = s.checkFile(); err == nil {
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

// Incarnation names this opening of the file. A restored old copy has the epoch of its original,
// and no other sign.
func (s *Store) Incarnation(context.Context) (string, error) {
	s.file.RLock()
	defer s.file.RUnlock()
	return s.incarnation, nil
}

// Adopt implements [store.Store]. It opens the file that is at the path now, or makes one.
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
	// The leases stay: those of a copy may be this process's own.
	if err := s.open(prepare); err != nil {
		return err
	}
	return old.Close()
}
