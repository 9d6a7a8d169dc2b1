package boltstore

import (
	"context"
	"slices"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"

	"planbridge/store/internal/rules"
)

// A commit fails where the file cannot grow, and the file stays as it was. Smaller writes may still
// fit into its free pages, and an empty one always does. So after a refusal only a large write
// proves that there is room.

// roomErrors are the errors of a file that cannot grow.
var roomErrors = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// lacksRoom reports a commit that failed because the file could not grow. bbolt keeps only the
// words of some causes.
func lacksRoom(err error) bool {
	return slices.ContainsFunc(roomErrors, func(cause error) bool { return strings.Contains(err.Error(), cause.Error()) })
}

// probeRoom writes a large value and deletes it.
func (s *Store) probeRoom(ctx context.Context) error {
	err := s.update(ctx, func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketMeta).Put(metaProbe, make([]byte, rules.Probe))
	})
	if err == nil {
		err = s.update(ctx, func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Delete(metaProbe) })
	}
	if err == nil {
		s.full.Store(false)
	}
	return err
}
