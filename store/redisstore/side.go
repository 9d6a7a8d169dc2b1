package redisstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

const (
	// marksStep bounds how many marks one script stores.
	marksStep = 10_000
	// dropStep bounds the marks that one script removes: unpack takes less than 8,000.
	dropStep = 4000
)

// Acquire implements [store.Leases].
func (s *Store) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (bool, error) {
	r, err := s.run(ctx, scriptAcquire, "", name, owner, millis(ttl), string(s.claiming().session))
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

// Take implements [store.Leases].
func (s *Store) Take(ctx context.Context, b store.Budget, a store.Ask) (g store.Grant, err error) {
	args := []any{len(b.Holds)}
	for _, name := range b.Holds {
		args = append(args, name)
	}
	args = append(args, b.Name, b.PerMinute, b.PerHour, b.Burst, max(a.Items, 1), int(a.Rank), rules.OneLine(a.Route), rules.OneLine(a.Author),
		millis(rules.UsageHalfLife), rules.UsageLeast, millis(rules.TurnGrace), millis(rules.TurnMost(a.Rank)), rules.TurnsPerItem, rules.Parties)
	for _, share := range rules.Shares {
		args = append(args, share)
	}
	r, err := s.run(ctx, scriptTake, "", args...)
	if err != nil {
		return g, fmt.Errorf("budget %s: %w", b.Name, err)
	}
	g.Items, g.Wait = int(r.num()), time.Duration(r.num())*time.Millisecond
	g.Held = r.num() == 1
	return g, r.err
}

// Taken implements [store.Leases].
func (s *Store) Taken(ctx context.Context, name string) (minute, hour int, err error) {
	r, err := s.run(ctx, scriptTaken, "", name)
	if err != nil {
		return 0, 0, fmt.Errorf("budget %s: %w", name, err)
	}
	minute, hour = int(r.num()), int(r.num())
	return minute, hour, r.err
}

// Hold implements [store.Leases].
func (s *Store) Hold(ctx context.Context, name string, d time.Duration) error {
	if _, err := s.run(ctx, scriptHold, "", name, millis(d)); err != nil {
		return fmt.Errorf("hold %s: %w", name, err)
	}
	return nil
}

// Held implements [store.Leases].
func (s *Store) Held(ctx context.Context, names ...string) ([]time.Duration, error) {
	left := make([]time.Duration, len(names))
	if len(names) == 0 {
		return left, nil
	}
	args := make([]any, 0, len(names)+1)
	args = append(args, len(names))
	for _, name := range names {
		args = append(args, name)
	}
	r, err := s.run(ctx, scriptHeld, "", args...)
	if err != nil {
		return nil, fmt.Errorf("holds %q: %w", names, err)
	}
	for i := range left {
		left[i] = time.Duration(r.num()) * time.Millisecond
	}
	return left, r.err
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

// Docs implements [store.State].
func (s *Store) Docs(ctx context.Context, project mapping.ObjectID, prefix string) ([]string, error) {
	var names []string
	err := s.scan(ctx, project, keyDocs, "HSCAN", func(pairs *reply) error {
		for pairs.more() {
			name := pairs.str()
			if pairs.next(); strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		return pairs.err
	})
	if err != nil {
		return nil, fmt.Errorf("documents of project %s: %w", project, err)
	}
	slices.Sort(names)
	return slices.Compact(names), nil // a scan may return one twice
}

// DropDoc implements [store.State].
func (s *Store) DropDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) (bool, error) {
	r, err := s.run(ctx, scriptDropDoc, project, name, data)
	if err != nil {
		return false, fmt.Errorf("document %s of project %s: %w", name, project, err)
	}
	return r.num() == 1, r.err
}

// Marks implements [store.State].
func (s *Store) Marks(ctx context.Context, project mapping.ObjectID, set string) ([]store.Mark, error) {
	texts := map[string]string{} // a scan may show a mark twice
	err := s.scan(ctx, project, keyMarks+set, "HSCAN", func(pairs *reply) error {
		for pairs.more() {
			id := pairs.str()
			texts[id] = pairs.str()
		}
		return pairs.err
	})
	if err != nil {
		return nil, fmt.Errorf("marks %s of project %s: %w", set, project, err)
	}
	marks := make([]store.Mark, 0, len(texts))
	for id, text := range mapping.Sorted(texts) {
		marks = append(marks, store.Mark{ID: id, Text: text})
	}
	return marks, nil
}

// PutMarks implements [store.State]. It stores more than some thousand marks in several steps,
// each atomic; repeating them is harmless.
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

// DropMarks implements [store.State], in steps as PutMarks.
func (s *Store) DropMarks(ctx context.Context, project mapping.ObjectID, set string, ids []string) error {
	for some := range slices.Chunk(ids, dropStep) {
		fields := make([]any, len(some))
		for i, id := range some {
			fields[i] = id
		}
		if err := s.write(ctx, project, keyMarks+set, "HDEL", fields...); err != nil {
			return fmt.Errorf("marks %s of project %s: %w", set, project, err)
		}
	}
	return nil
}
