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

// Marks implements [store.State].
func (s *Store) Marks(ctx context.Context, project mapping.ObjectID, set string) (map[string]string, error) {
	marks := map[string]string{}
	prefix := []byte(set + "\x00")
	err := s.read(ctx, project, func(sp space) error {
		c := sp.b("marks").Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			marks[string(k[len(prefix):])] = string(v)
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
	err := s.in(ctx, project, func(sp space) error {
		b := sp.b("marks")
		for id, text := range marks {
			if err := b.Put([]byte(set+"\x00"+id), []byte(text)); err != nil {
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
