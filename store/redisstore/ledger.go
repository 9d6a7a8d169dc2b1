package redisstore

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // it only tells records apart
	"encoding/hex"
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

// Conflicts implements [store.Ledger]. The cursor is the position of the last entry of the page
// before.
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

// ConflictsBefore implements [store.Ledger].
func (s *Store) ConflictsBefore(ctx context.Context, project mapping.ObjectID, before time.Time, cursor string, limit int) ([]mapping.Conflict, string, error) {
	return s.Conflicts(ctx, project, cmp.Or(cursor, rules.Order(before)), limit)
}

// DropConflicts implements [store.Ledger].
func (s *Store) DropConflicts(ctx context.Context, project mapping.ObjectID, cs []mapping.Conflict) (int, error) {
	dropped, err := s.dropConflicts(ctx, project, cs)
	if err != nil {
		return 0, fmt.Errorf("drop conflicts of project %s: %w", project, err)
	}
	return dropped, nil
}

// dropConflicts compares the records in Go, which can read them. The script removes those that
// did not change since.
func (s *Store) dropConflicts(ctx context.Context, project mapping.ObjectID, cs []mapping.Conflict) (int, error) {
	if len(cs) == 0 {
		return 0, nil
	}
	ids := make([]any, len(cs))
	for i, c := range cs {
		ids[i] = c.ID
	}
	v, err := s.read(ctx, project, keyLedger, "HMGET", ids...)
	if err != nil {
		return 0, err
	}
	records, _ := v.([]any)
	if len(records) != len(cs) {
		return 0, fmt.Errorf("redis: %d records of %d", len(records), len(cs))
	}
	args := []any{0}
	for i, c := range cs {
		record, ok := records[i].(string)
		if !ok {
			continue
		}
		var now mapping.Conflict
		if err := decodeConflict(record, &now); err != nil {
			return 0, err
		}
		same, err := rules.SameConflict(c, now)
		if err != nil {
			return 0, err
		}
		if same {
			sum := sha1.Sum([]byte(record)) //nolint:gosec // as above
			args = append(args, c.ID, hex.EncodeToString(sum[:]))
		}
	}
	args[0] = (len(args) - 1) / 2
	r, err := s.run(ctx, scriptDropLedger, project, args...)
	if err != nil {
		return 0, err
	}
	return int(r.num()), r.err
}
