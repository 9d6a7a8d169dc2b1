package memstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// Acquire implements [store.Leases].
func (s *Store) Acquire(ctx context.Context, name, owner string, ttl time.Duration) (got bool, err error) {
	err = s.write(ctx, "", func(_ *space, now int64) (bool, error) {
		leases := &s.memory.content.Leases
		l, _ := leases.get(name)
		if got = l.Owner == owner || l.Until <= now || s.fell(l.Session, now); got {
			leases.put(name, lease{owner, now + int64(ttl), s.session})
		}
		return got, nil
	})
	if err != nil {
		return false, fmt.Errorf("lease %s: %w", name, err)
	}
	return got, nil
}

// Release implements [store.Leases].
func (s *Store) Release(ctx context.Context, name, owner string) error {
	err := s.write(ctx, "", func(*space, int64) (bool, error) {
		leases := &s.memory.content.Leases
		l, held := leases.get(name)
		if held = held && l.Owner == owner; held {
			leases.remove(name)
		}
		return held, nil
	})
	if err != nil {
		return fmt.Errorf("lease %s: %w", name, err)
	}
	return nil
}

// Take implements [store.Leases].
func (s *Store) Take(ctx context.Context, b store.Budget, a store.Ask) (g store.Grant, err error) {
	err = s.write(ctx, "", func(_ *space, now int64) (bool, error) {
		if held := slices.Max(append(s.memory.content.held(now, b.Holds), 0)); held > 0 {
			g = store.Grant{Wait: held, Held: true}
			return false, nil
		}
		budgets := &s.memory.content.Budgets
		state, _ := budgets.get(b.Name)
		if state, g = state.Take(now, b, a); g.Items == 0 && a.Route == "" {
			return false, nil
		}
		budgets.put(b.Name, state)
		return true, nil
	})
	if err != nil {
		return store.Grant{}, fmt.Errorf("budget %s: %w", b.Name, err)
	}
	return g, nil
}

// Taken implements [store.Leases].
func (s *Store) Taken(ctx context.Context, name string) (minute, hour int, err error) {
	err = s.read(ctx, "", func(_ *space, now int64) error {
		state, _ := s.memory.content.Budgets.get(name)
		minute, hour = state.Within(now, time.Minute), state.Within(now, time.Hour)
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("budget %s: %w", name, err)
	}
	return minute, hour, nil
}

// held returns how much longer each name is closed.
func (c *content) held(now int64, names []string) []time.Duration {
	left := make([]time.Duration, len(names))
	for i, name := range names {
		until, _ := c.Holds.get(name)
		left[i] = time.Duration(max(0, until-now))
	}
	return left
}

// Hold implements [store.Leases].
func (s *Store) Hold(ctx context.Context, name string, d time.Duration) error {
	err := s.write(ctx, "", func(_ *space, now int64) (bool, error) {
		until, _ := s.memory.content.Holds.get(name)
		longer := now+int64(d) > until
		if longer {
			s.memory.content.Holds.put(name, now+int64(d))
		}
		return longer, nil
	})
	if err != nil {
		return fmt.Errorf("hold %s: %w", name, err)
	}
	return nil
}

// Held implements [store.Leases].
func (s *Store) Held(ctx context.Context, names ...string) (left []time.Duration, err error) {
	err = s.read(ctx, "", func(_ *space, now int64) error {
		left = s.memory.content.held(now, names)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("holds %q: %w", names, err)
	}
	return left, nil
}

// Doc implements [store.State].
func (s *Store) Doc(ctx context.Context, project mapping.ObjectID, name string) (data []byte, err error) {
	err = s.read(ctx, project, func(sp *space, _ int64) error {
		stored, known := sp.Docs.get(name)
		if !known {
			return store.ErrNotFound
		}
		data = bytes.Clone(stored)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("document %s of project %s: %w", name, project, err)
	}
	return data, nil
}

// PutDoc implements [store.State].
func (s *Store) PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error {
	err := s.write(ctx, project, func(sp *space, _ int64) (bool, error) {
		sp.Docs.put(name, append([]byte{}, data...))
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("document %s of project %s: %w", name, project, err)
	}
	return nil
}

// Docs implements [store.State].
func (s *Store) Docs(ctx context.Context, project mapping.ObjectID, prefix string) (names []string, err error) {
	err = s.read(ctx, project, func(sp *space, _ int64) error {
		for name := range sp.Docs.ascend(prefix) {
			if !strings.HasPrefix(name, prefix) {
				break
			}
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("documents of project %s: %w", project, err)
	}
	return names, nil
}

// DropDoc implements [store.State].
func (s *Store) DropDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) (dropped bool, err error) {
	err = s.write(ctx, project, func(sp *space, _ int64) (bool, error) {
		now, known := sp.Docs.get(name)
		if dropped = known && bytes.Equal(now, data); dropped {
			sp.Docs.remove(name)
		}
		return dropped, nil
	})
	if err != nil {
		return false, fmt.Errorf("document %s of project %s: %w", name, project, err)
	}
	return dropped, nil
}

// Marks implements [store.State].
func (s *Store) Marks(ctx context.Context, project mapping.ObjectID, set string) ([]store.Mark, error) {
	var marks []store.Mark
	prefix := set + "\x00"
	err := s.read(ctx, project, func(sp *space, _ int64) error {
		for key, text := range sp.Marks.ascend(prefix) {
			id, ok := strings.CutPrefix(key, prefix)
			if !ok {
				break
			}
			marks = append(marks, store.Mark{ID: id, Text: text})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("marks %s of project %s: %w", set, project, err)
	}
	return marks, nil
}

// PutMarks implements [store.State].
func (s *Store) PutMarks(ctx context.Context, project mapping.ObjectID, set string, marks map[string]string) error {
	if len(marks) == 0 {
		return nil
	}
	err := s.write(ctx, project, func(sp *space, _ int64) (bool, error) {
		sp.putMarks(set, marks)
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("marks %s of project %s: %w", set, project, err)
	}
	return nil
}

func (sp *space) putMarks(set string, marks map[string]string) {
	for id, text := range marks { // each has its own row
		sp.Marks.put(set+"\x00"+id, text)
	}
}

// DropMarks implements [store.State].
func (s *Store) DropMarks(ctx context.Context, project mapping.ObjectID, set string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	err := s.write(ctx, project, func(sp *space, _ int64) (bool, error) {
		before := len(sp.Marks.rows)
		for _, id := range ids {
			sp.Marks.remove(set + "\x00" + id)
		}
		return len(sp.Marks.rows) < before, nil
	})
	if err != nil {
		return fmt.Errorf("marks %s of project %s: %w", set, project, err)
	}
	return nil
}
