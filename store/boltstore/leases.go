package boltstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/budget"
	"planbridge/store/internal/queue"
)

type lease struct {
	Owner string `json:"o"`
	Until int64  `json:"u"`
}

// Acquire implements [store.Leases].
func (s *Store) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (got bool, err error) {
	err = s.named(ctx, bucketLeases, func(b *bbolt.Bucket, now int64) error {
		var l lease
		if _, err := get(b, []byte(name), &l); err != nil {
			return err
		}
		if got = l.Owner == owner || l.Until <= now; !got {
			return nil
		}
		return put(b, []byte(name), lease{owner, now + int64(ttl)})
	})
	if err != nil {
		return false, fmt.Errorf("lease %s: %w", name, err)
	}
	return got, nil
}

// Release implements [store.Leases].
func (s *Store) Release(ctx context.Context, name, owner string) error {
	err := s.named(ctx, bucketLeases, func(b *bbolt.Bucket, _ int64) error {
		var l lease
		if ok, err := get(b, []byte(name), &l); !ok || l.Owner != owner {
			return err
		}
		return b.Delete([]byte(name))
	})
	if err != nil {
		return fmt.Errorf("lease %s: %w", name, err)
	}
	return nil
}

// Take implements [store.Leases].
func (s *Store) Take(ctx context.Context, b store.Budget, a store.Ask) (g store.Grant, err error) {
	held, err := s.Held(ctx, b.Holds...)
	if err != nil {
		return g, fmt.Errorf("budget %s: %w", b.Name, err)
	}
	if len(held) > 0 && slices.Max(held) > 0 {
		return store.Grant{Wait: slices.Max(held), Held: true}, nil
	}
	err = s.named(ctx, bucketBudgets, func(bucket *bbolt.Bucket, now int64) error {
		var state budget.State
		if _, err := get(bucket, []byte(b.Name), &state); err != nil {
			return err
		}
		if state, g = state.Take(now, b, a); g.Items == 0 && a.Route == "" {
			return nil
		}
		return put(bucket, []byte(b.Name), state)
	})
	if err != nil {
		return store.Grant{}, fmt.Errorf("budget %s: %w", b.Name, err)
	}
	return g, nil
}

// Taken implements [store.Leases].
func (s *Store) Taken(ctx context.Context, name string) (minute, hour int, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		var state budget.State
		if b := tx.Bucket(bucketBudgets); b != nil {
			if _, err := get(b, []byte(name), &state); err != nil {
				return err
			}
		}
		now := s.clock.Now().UnixNano()
		minute, hour = state.Within(now, time.Minute), state.Within(now, time.Hour)
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("budget %s: %w", name, err)
	}
	return minute, hour, nil
}

// Hold implements [store.Leases].
func (s *Store) Hold(ctx context.Context, name string, d time.Duration) error {
	err := s.named(ctx, bucketHolds, func(b *bbolt.Bucket, now int64) error {
		if old := b.Get([]byte(name)); len(old) == 8 && fromBE64(old) >= now+int64(d) {
			return nil
		}
		return b.Put([]byte(name), be64(now+int64(d)))
	})
	if err != nil {
		return fmt.Errorf("hold %s: %w", name, err)
	}
	return nil
}

// Held implements [store.Leases].
func (s *Store) Held(ctx context.Context, names ...string) (left []time.Duration, err error) {
	left = make([]time.Duration, len(names))
	if len(names) == 0 {
		return left, nil
	}
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketHolds)
		for i := 0; b != nil && i < len(names); i++ {
			if until := b.Get([]byte(names[i])); len(until) == 8 {
				left[i] = max(0, time.Duration(fromBE64(until)-s.clock.Now().UnixNano()))
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("holds %q: %w", names, err)
	}
	return left, nil
}

// named runs fn on a bucket outside the projects.
func (s *Store) named(ctx context.Context, bucket []byte, fn func(b *bbolt.Bucket, now int64) error) error {
	return s.update(ctx, func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		return fn(b, s.clock.Now().UnixNano())
	})
}

// Heartbeat implements [store.Sessions] and does nothing. One process has the file, and opening
// it ends the leases of the previous one.
func (s *Store) Heartbeat(ctx context.Context, _ store.Session, _ time.Duration) ([]store.Session, error) {
	return nil, ctx.Err()
}

// EndSessions implements [store.Sessions].
func (s *Store) EndSessions(ctx context.Context, _ []store.Session) (int, error) { return 0, ctx.Err() }

// takeOver prepares the file for a process that just got its lock. The lock proves that every
// holder of a lease is dead, so that all leases end.
func (s *Store) takeOver(tx *bbolt.Tx) error {
	if err := prepare(tx); err != nil {
		return err
	}
	if tx.Bucket(bucketLeases) != nil {
		if err := tx.DeleteBucket(bucketLeases); err != nil {
			return err
		}
	}
	return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
		project, ok := bytes.CutPrefix(name, []byte(projectPrefix))
		if !ok {
			return nil
		}
		sp, err := s.space(tx, mapping.ObjectID(project))
		if err != nil {
			return err
		}
		return sp.endLeases()
	})
}

// endLeases makes the leased keys due. The queue has them at the ends of their leases, among the
// keys that are due later.
func (sp space) endLeases() error {
	for _, id := range slices.Collect(queue.Later(sp, sp.now)) {
		w, err := sp.work(id)
		if err != nil || w == nil || !w.Leased(sp.now) {
			continue // an unreadable key is parked when it is due
		}
		w.Work = w.EndLease(sp.now)
		if err := sp.putWork(id, w); err != nil {
			return err
		}
	}
	return nil
}
