package boltstore

import (
	"bytes"
	"context"
	"fmt"

	"planbridge/mapping"
	"planbridge/store"
)

// Doc implements [store.State].
func (s *Store) Doc(ctx context.Context, project mapping.ObjectID, name string) (data []byte, err error) {
	err = s.read(ctx, project, func(sp space) error {
		data = bytes.Clone(sp.b("docs").Get([]byte(name)))
		return nil
	})
	if err == nil && data == nil {
		err = fmt.Errorf("document %s of project %s: %w", name, project, store.ErrNotFound)
	}
	return data, err
}

// PutDoc implements [store.State].
func (s *Store) PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error {
	err := s.in(ctx, project, func(sp space) error { return sp.b("docs").Put([]byte(name), data) })
	if err != nil {
		return fmt.Errorf("document %s of project %s: %w", name, project, err)
	}
	return nil
}

// Docs implements [store.State].
func (s *Store) Docs(ctx context.Context, project mapping.ObjectID, prefix string) (names []string, err error) {
	err = s.read(ctx, project, func(sp space) error {
		c := sp.b("docs").Cursor()
		for k, _ := c.Seek([]byte(prefix)); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, _ = c.Next() {
			names = append(names, string(k))
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
	err = s.in(ctx, project, func(sp space) error {
		now := sp.b("docs").Get([]byte(name))
		if dropped = now != nil && bytes.Equal(now, data); !dropped {
			return nil
		}
		return sp.b("docs").Delete([]byte(name))
	})
	if err != nil {
		return false, fmt.Errorf("document %s of project %s: %w", name, project, err)
	}
	return dropped, nil
}

// Marks implements [store.State].
func (s *Store) Marks(ctx context.Context, project mapping.ObjectID, set string) ([]store.Mark, error) {
	var marks []store.Mark
	prefix := []byte(set + "\x00")
	err := s.read(ctx, project, func(sp space) error {
		c := sp.b("marks").Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			marks = append(marks, store.Mark{ID: string(k[len(prefix):]), Text: string(v)})
		}
		return nil
	})
	return marks, err
}

// PutMarks implements [store.State].
func (s *Store) PutMarks(ctx context.Context, project mapping.ObjectID, set string, marks map[string]string) error {
	if len(marks) == 0 {
		return nil
	}
	err := s.in(ctx, project, func(sp space) error { return sp.putMarks(set, marks) })
	if err != nil {
		return fmt.Errorf("marks %s of project %s: %w", set, project, err)
	}
	return nil
}

func (sp space) putMarks(set string, marks map[string]string) error {
	b := sp.b("marks")
	for id, text := range marks {
		if err := b.Put([]byte(set+"\x00"+id), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// DropMarks implements [store.State].
func (s *Store) DropMarks(ctx context.Context, project mapping.ObjectID, set string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	err := s.in(ctx, project, func(sp space) error {
		b := sp.b("marks")
		for _, id := range ids {
			if err := b.Delete([]byte(set + "\x00" + id)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("marks %s of project %s: %w", set, project, err)
	}
	return nil
}
