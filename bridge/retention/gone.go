package retention

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// goneReads bounds the items of a set that one pass reads.
const goneReads = 200

// Items are the items of a project that a set of marks is about, such as its cards. The marks
// have what the polls remember of each, by id.
type Items interface {
	// Set names the marks.
	Set() string
	// Needed reports whether an item is known to exist.
	Needed(id mapping.ObjectID) bool
	// Gone reads an item, and reports whether it does not exist.
	Gone(ctx context.Context, id mapping.ObjectID) (bool, error)
	// Forget learns that an item's mark was removed.
	Forget(id mapping.ObjectID)
}

// setUnseen names the set of marks that has, for each item of a set, the day since which it is
// not known to exist.
func setUnseen(set string) string { return "unseen:" + set }

// forgetGone removes the marks of a project's items that are gone for [UnusedFor]. An item that
// no listing shows may still exist, so it is read before its mark is removed. An existing item is
// read again after the same time.
func (p *pass) forgetGone(ctx context.Context, project mapping.ObjectID) error {
	names, err := p.carried(ctx)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	sets, err := p.o.Needs.Items(ctx, project, names)
	if err != nil {
		return err
	}
	for _, items := range sets {
		if err := p.forgetGoneOf(ctx, project, items); err != nil {
			return fmt.Errorf("marks of %s: %w", items.Set(), err)
		}
	}
	return nil
}

func (p *pass) forgetGoneOf(ctx context.Context, project mapping.ObjectID, items Items) error {
	marks, err := p.o.Store.Marks(ctx, project, items.Set())
	if err != nil {
		return err
	}
	set := setUnseen(items.Set())
	unseen, err := p.o.Store.Marks(ctx, project, set)
	if err != nil {
		return err
	}
	today, since, idle := p.now.Format(time.DateOnly), store.MarkTexts(unseen), map[string]string{}
	var due []string
	for _, mark := range marks {
		id := mark.ID
		if items.Needed(mapping.ObjectID(id)) {
			continue
		}
		day, err := time.Parse(time.DateOnly, since[id])
		if err != nil || day.After(p.now) {
			idle[id] = today
			continue
		}
		if idle[id] = since[id]; p.now.Sub(day) >= UnusedFor {
			due = append(due, id)
		}
	}
	slices.SortFunc(due, func(a, b string) int { return cmp.Or(cmp.Compare(since[a], since[b]), cmp.Compare(a, b)) })
	for _, id := range due[:min(len(due), goneReads)] {
		if err := ctx.Err(); err != nil {
			return err
		}
		gone, err := items.Gone(ctx, mapping.ObjectID(id))
		if err != nil {
			p.o.Logger.Info("an item that no listing shows cannot be read: its mark stays", "set", items.Set(), "item", id, "err", err)
			break // the next pass reads on
		}
		if idle[id] = today; gone {
			delete(idle, id)
			if err := p.dropMark(ctx, project, items, id); err != nil {
				return err
			}
		}
	}
	return p.keepDays(ctx, project, set, since, idle)
}

// dropMark removes the mark of an item right after it was read.
func (p *pass) dropMark(ctx context.Context, project mapping.ObjectID, items Items, id string) error {
	if err := p.o.Store.DropMarks(ctx, project, items.Set(), []string{id}); err != nil {
		return err
	}
	items.Forget(mapping.ObjectID(id))
	p.o.Logger.Info("what was remembered of an item is removed: it is gone for long", "set", items.Set(), "item", id, "project", project)
	return nil
}
