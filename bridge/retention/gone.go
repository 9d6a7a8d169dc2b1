package retention

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
)

// goneReads bounds how many items of a set one pass reads.
const goneReads = 200

// Items are things of a project's that a set of marks is of, such as its cards. The marks
// are what the polls remember of each, by its id.
type Items interface {
	// Set names the marks.
	Set() string
	// Needed reports whether an item is known to be there.
	Needed(id mapping.ObjectID) bool
	// Gone reads an item, and reports whether there is no such item.
	Gone(ctx context.Context, id mapping.ObjectID) (bool, error)
	// Forget is told of an item whose mark was removed.
	Forget(id mapping.ObjectID)
}

// setUnseen names the marks that say since which day an item of a set is not known to be
// there: its id to that day.
func setUnseen(set string) string { return "unseen:" + set }

// forgetGone removes the marks of a project's items that are gone for [UnusedFor]. That
// no listing shows an item is no proof: it is read before its mark goes. One that is
// there after all is read anew after as long.
func (p *pass) forgetGone(ctx context.Context, project mapping.ObjectID) error {
	names, err := p.carried(ctx)
	if err != nil {
		return err
	}
	if err := p.hold(ctx); err != nil {
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
	since, err := p.o.Store.Marks(ctx, project, set)
	if err != nil {
		return err
	}
	today, idle := p.now.Format(time.DateOnly), map[string]string{}
	var due []string
	for id := range mapping.Sorted(marks) {
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
		if err := p.hold(ctx); err != nil {
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

// dropMark removes the mark of an item, right after it was read.
func (p *pass) dropMark(ctx context.Context, project mapping.ObjectID, items Items, id string) error {
	if err := p.o.Store.DropMarks(ctx, project, items.Set(), []string{id}); err != nil {
		return err
	}
	items.Forget(mapping.ObjectID(id))
	p.o.Logger.Info("what was remembered of an item is removed: it is gone for long", "set", items.Set(), "item", id, "project", project)
	return nil
}
