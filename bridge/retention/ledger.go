package retention

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// ledgerPage is how many entries are read, archived and removed at a time.
const ledgerPage = 100

// expire removes a project's conflicts that are older than the ledger's retention. It keeps an
// entry that waits for an answer, or that its link must still undo. A later pass handles an entry
// that changes after it was read.
func (p *pass) expire(ctx context.Context, project mapping.ObjectID) error {
	rules := p.o.Needs.Rules()
	if rules.Ledger <= 0 {
		return nil
	}
	before, sum := p.now.Add(-rules.Ledger), 0
	defer func() {
		if sum > 0 {
			p.o.Logger.Info("conflicts expired", "project", project, "conflicts", sum, "older_than", rules.Ledger.String(), "archive", rules.Archive)
		}
	}()
	for cursor, begun := "", false; cursor != "" || !begun; begun = true {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, next, err := p.o.Store.ConflictsBefore(ctx, project, before, cursor, ledgerPage)
		if err != nil {
			return err
		}
		n, err := p.expirePage(ctx, project, page, before, rules.Archive)
		if sum += n; err != nil {
			return err
		}
		cursor = next
	}
	return nil
}

// expirePage removes the expired ones of some entries, and returns their number.
func (p *pass) expirePage(ctx context.Context, project mapping.ObjectID, page []mapping.Conflict, before time.Time, path string) (int, error) {
	var expired []mapping.Conflict
	for _, c := range page {
		if !c.Expired(before) {
			continue
		}
		needed, err := p.undoes(ctx, c)
		if err != nil {
			return 0, err
		}
		if !needed {
			expired = append(expired, c)
		}
	}
	if len(expired) == 0 {
		return 0, nil
	}
	if path != "" {
		err := archive(path, expired)
		p.o.Guard.Report("ledger archive", path, err)
		if err != nil {
			return 0, fmt.Errorf("no conflict is removed: %w", err)
		}
	}
	return p.o.Store.DropConflicts(ctx, project, expired)
}

// undoes reports whether the entry's link still has to write its loser back.
func (p *pass) undoes(ctx context.Context, c mapping.Conflict) (bool, error) {
	l, err := p.o.Store.Link(ctx, store.Key{Project: c.Project, Link: c.Link})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(l.All(), func(p *mapping.Pair) bool { return has(p.Undo, c.ID) }), nil
}

func has(undo map[mapping.Attribute]string, id string) bool {
	return slices.Contains(slices.Collect(maps.Values(undo)), id)
}
