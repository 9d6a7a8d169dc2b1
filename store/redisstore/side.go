package redisstore

import (
	"context"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

const (
	// orderLen is the length of [rules.Order], which opens a ledger record.
	orderLen = 16
	// marksStep bounds how many marks one script stores.
	marksStep = 10_000
)

// PutConflict implements [store.Ledger].
func (s *Store) PutConflict(ctx context.Context, c mapping.Conflict) error {
	record, err := encode(c)
	if err == nil {
		_, err = s.run(ctx, scriptPutConflict, c.Project, c.ID, rules.Order(c.At), record)
	}
	if err != nil {
		return fmt.Errorf("conflict %s/%s: %w", c.Project, c.ID, err)
	}
	return nil
}

// Conflict implements [store.Ledger].
func (s *Store) Conflict(ctx context.Context, project mapping.ObjectID, id string) (c mapping.Conflict, err error) {
	record, err := s.read(ctx, project, keyLedger, "HGET", id)
	if text, ok := record.(string); ok && err == nil {
		err = decodeConflict(text, &c)
	} else if err == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return c, fmt.Errorf("conflict %s/%s: %w", project, id, err)
	}
	return c, nil
}

func decodeConflict(record string, c *mapping.Conflict) error {
	if len(record) < orderLen {
		return fmt.Errorf("ledger record %q is too short", record)
	}
	return decode(record[orderLen:], c)
}

// Conflicts implements [store.Ledger]. The cursor is the place in the order of
// the last entry of the page before.
func (s *Store) Conflicts(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (cs []mapping.Conflict, next string, err error) {
	r, err := s.run(ctx, scriptConflicts, project, cursor, max(limit, 1))
	if err != nil {
		return nil, "", fmt.Errorf("conflicts of project %s: %w", project, err)
	}
	for next = r.str(); r.more(); {
		var c mapping.Conflict
		if err := decodeConflict(r.str(), &c); err != nil {
			return nil, "", fmt.Errorf("conflicts of project %s: %w", project, err)
		}
		cs = append(cs, c)
	}
	return cs, next, r.err
}

// Acquire implements [store.Leases].
func (s *Store) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error) {
	r, err := s.run(ctx, scriptAcquire, "", name, owner, millis(ttl))
	if err != nil {
		return false, fmt.Errorf("lease %s: %w", name, err)
	}
	return r.num() == 1, r.err
}

// Release implements [store.Leases].
func (s *Store) Release(ctx context.Context, name, owner string) error {
	if _, err := s.run(ctx, scriptRelease, "", name, owner); err != nil {
		return fmt.Errorf("lease %s: %w", name, err)
	}
	return nil
}

// Budget implements [store.Leases]. In any 60 seconds at most perMinute writes
// are given, in any hour at most perHour; at most burst of them back to back,
// after which they come at an even perMinute. What is not positive bounds
// nothing.
func (s *Store) Budget(ctx context.Context, name string, perMinute, perHour, burst int) (time.Duration, error) {
	r, err := s.run(ctx, scriptBudget, "", name, perMinute, perHour, burst)
	if err != nil {
		return 0, fmt.Errorf("budget %s: %w", name, err)
	}
	return time.Duration(r.num()) * time.Millisecond, r.err
}

// Doc implements [store.State].
func (s *Store) Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error) {
	v, err := s.read(ctx, project, keyDocs, "HGET", name)
	text, ok := v.(string)
	if err == nil && !ok {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("document %s of project %s: %w", name, project, err)
	}
	return []byte(text), nil
}

// PutDoc implements [store.State].
func (s *Store) PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error {
	if err := s.write(ctx, project, keyDocs, "HSET", name, data); err != nil {
		return fmt.Errorf("document %s of project %s: %w", name, project, err)
	}
	return nil
}

// Marks implements [store.State].
func (s *Store) Marks(ctx context.Context, project mapping.ObjectID, set string) (map[string]string, error) {
	v, err := s.read(ctx, project, keyMarks+set, "HGETALL")
	if err != nil {
		return nil, fmt.Errorf("marks %s of project %s: %w", set, project, err)
	}
	all, _ := v.([]any)
	marks := make(map[string]string, len(all)/2)
	for r := (&reply{values: all}); r.more(); {
		id := r.str()
		marks[id] = r.str()
	}
	return marks, nil
}

// PutMarks implements [store.State]. More than some thousand go in several
// steps, each atomic; repeating them is harmless.
func (s *Store) PutMarks(ctx context.Context, project mapping.ObjectID, set string, marks map[string]string) error {
	pairs := make([]any, 0, 2*len(marks))
	for id, text := range marks {
		pairs = append(pairs, id, text)
	}
	for len(pairs) > 0 {
		n := min(len(pairs), 2*marksStep)
		if _, err := s.run(ctx, scriptMarks, project, append([]any{set, n}, pairs[:n]...)...); err != nil {
			return fmt.Errorf("marks %s of project %s: %w", set, project, err)
		}
		pairs = pairs[n:]
	}
	return nil
}
