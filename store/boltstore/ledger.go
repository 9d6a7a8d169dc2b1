package boltstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/internal/rules"
)

// orderLen is the length of the [rules.Order] that starts a ledger record.
const orderLen = 16

// PutConflict implements [store.Ledger].
func (s *Store) PutConflict(ctx context.Context, c mapping.Conflict) error {
	err := s.in(ctx, c.Project, func(sp space) error { return sp.putConflict(c) })
	if err != nil {
		return fmt.Errorf("conflict %s/%s: %w", c.Project, c.ID, err)
	}
	return nil
}

func (sp space) putConflict(c mapping.Conflict) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	order, ledger, by := rules.Order(c.At), sp.b("ledger"), sp.b("ledgerby")
	if old := ledger.Get([]byte(c.ID)); old != nil {
		if err := by.Delete([]byte(string(old[:orderLen]) + c.ID)); err != nil {
			return err
		}
	}
	if err := by.Put([]byte(order+c.ID), nil); err != nil {
		return err
	}
	return ledger.Put([]byte(c.ID), append([]byte(order), data...))
}

func (sp space) conflict(id string) (c mapping.Conflict, err error) {
	data := sp.b("ledger").Get([]byte(id))
	if data == nil {
		return c, fmt.Errorf("conflict %s/%s: %w", sp.project, id, store.ErrNotFound)
	}
	if err := json.Unmarshal(data[orderLen:], &c); err != nil {
		return c, fmt.Errorf("conflict %s/%s: %w", sp.project, id, err)
	}
	return c, nil
}

// Conflict implements [store.Ledger].
func (s *Store) Conflict(ctx context.Context, project mapping.ObjectID, id string) (c mapping.Conflict, err error) {
	found := false
	err = s.read(ctx, project, func(sp space) (err error) {
		found = true
		c, err = sp.conflict(id)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("conflict %s/%s: %w", project, id, store.ErrNotFound)
	}
	return c, err
}

// Conflicts implements [store.Ledger]. The cursor is the index key of the last entry of the page
// before.
func (s *Store) Conflicts(ctx context.Context, project mapping.ObjectID, cursor string, limit int) (cs []mapping.Conflict, next string, err error) {
	limit = max(limit, 1)
	err = s.read(ctx, project, func(sp space) error {
		by := sp.b("ledgerby").Cursor()
		k, _ := by.Last()
		if cursor != "" {
			if k, _ = by.Seek([]byte(cursor)); k != nil {
				k, _ = by.Prev()
			} else {
				k, _ = by.Last()
			}
		}
		last := ""
		for ; k != nil; k, _ = by.Prev() {
			if len(cs) == limit {
				next = last
				return nil
			}
			last = string(k)
			c, err := sp.conflict(last[orderLen:])
			if err != nil {
				return err
			}
			cs = append(cs, c)
		}
		return nil
	})
	return cs, next, err
}

// ConflictsBefore implements [store.Ledger].
func (s *Store) ConflictsBefore(ctx context.Context, project mapping.ObjectID, before time.Time, cursor string, limit int) ([]mapping.Conflict, string, error) {
	return s.Conflicts(ctx, project, cmp.Or(cursor, rules.Order(before)), limit)
}

// DropConflicts implements [store.Ledger].
func (s *Store) DropConflicts(ctx context.Context, project mapping.ObjectID, cs []mapping.Conflict) (dropped int, err error) {
	err = s.in(ctx, project, func(sp space) error {
		dropped = 0
		for _, c := range cs {
			done, err := sp.dropConflict(c)
			if err != nil {
				return err
			}
			if done {
				dropped++
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("drop conflicts of project %s: %w", project, err)
	}
	return dropped, nil
}

// dropConflict removes an entry unless it changed.
func (sp space) dropConflict(c mapping.Conflict) (bool, error) {
	now, err := sp.conflict(c.ID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if same, err := rules.SameConflict(c, now); err != nil || !same {
		return false, err
	}
	order := string(sp.b("ledger").Get([]byte(c.ID))[:orderLen])
	if err := sp.b("ledgerby").Delete([]byte(order + c.ID)); err != nil {
		return false, err
	}
	return true, sp.b("ledger").Delete([]byte(c.ID))
}
