package memstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// PutConflict implements [store.Ledger].
func (s *Store) PutConflict(ctx context.Context, c mapping.Conflict) error {
	err := s.write(ctx, c.Project, func(sp *space, _ int64) (bool, error) { return true, sp.putConflict(c) })
	if err != nil {
		return fmt.Errorf("conflict %s/%s: %w", c.Project, c.ID, err)
	}
	return nil
}

func (sp *space) putConflict(c mapping.Conflict) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if old, known := sp.Conflicts.get(c.ID); known {
		sp.Ledger.remove(old.Order + c.ID)
	}
	order := rules.Order(c.At)
	sp.Conflicts.put(c.ID, conflict{order, data, new(decoded[mapping.Conflict])})
	sp.Ledger.put(order+c.ID, c.ID)
	return nil
}

// Conflict implements [store.Ledger].
func (s *Store) Conflict(ctx context.Context, project mapping.ObjectID, id string) (c mapping.Conflict, err error) {
	err = s.read(ctx, project, func(sp *space, _ int64) error {
		entry, known := sp.Conflicts.get(id)
		if !known {
			return store.ErrNotFound
		}
		read, err := entry.read()
		if err == nil {
			c = *read
		}
		return err
	})
	if err != nil {
		return mapping.Conflict{}, fmt.Errorf("conflict %s/%s: %w", project, id, err)
	}
	return c, nil
}

// Conflicts implements [store.Ledger]. The cursor is the position of the last entry of the page
// before.
func (s *Store) Conflicts(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (cs []mapping.Conflict, next string, err error) {
	limit = max(limit, 1)
	err = s.read(ctx, project, func(sp *space, _ int64) error {
		last := ""
		for place, id := range sp.Ledger.before(cursor) {
			if len(cs) == limit {
				next = last
				return nil
			}
			entry, _ := sp.Conflicts.get(id)
			c, err := entry.read()
			if err != nil {
				return err
			}
			cs, last = append(cs, *c), place
		}
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("conflicts of project %s: %w", project, err)
	}
	return cs, next, nil
}

// ConflictsBefore implements [store.Ledger].
func (s *Store) ConflictsBefore(ctx context.Context, project mapping.ObjectID, before time.Time, cursor string, limit int) ([]mapping.Conflict, string, error) {
	return s.Conflicts(ctx, project, cmp.Or(cursor, rules.Order(before)), limit)
}

// DropConflicts implements [store.Ledger].
func (s *Store) DropConflicts(ctx context.Context, project mapping.ObjectID, cs []mapping.Conflict) (dropped int, err error) {
	err = s.write(ctx, project, func(sp *space, _ int64) (bool, error) {
		for _, c := range cs {
			stored, known := sp.Conflicts.get(c.ID)
			if !known {
				continue
			}
			now, err := stored.read()
			if err != nil {
				return false, err
			}
			if same, err := rules.SameConflict(c, *now); err != nil || !same {
				continue
			}
			sp.Conflicts.remove(c.ID)
			sp.Ledger.remove(stored.Order + c.ID)
			dropped++
		}
		return dropped > 0, nil
	})
	if err != nil {
		return 0, fmt.Errorf("drop conflicts of project %s: %w", project, err)
	}
	return dropped, nil
}
