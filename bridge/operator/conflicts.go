package operator

import (
	"context"
	"fmt"
	"slices"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Conflicts lists the newest entries of the conflict ledger, newest first.
func (o *Operator) Conflicts(ctx context.Context, limit int) ([]mapping.Conflict, error) {
	var out []mapping.Conflict
	for _, project := range o.projects() {
		cs, _, err := o.store.Conflicts(ctx, project, "", limit)
		if err != nil {
			return nil, fmt.Errorf("list conflicts: %w", err)
		}
		out = append(out, cs...)
	}
	slices.SortStableFunc(out, func(a, b mapping.Conflict) int { return b.At.Compare(a.At) })
	return out[:min(limit, len(out))], nil
}

// ResolveConflict answers an attribute that is asked: the winner's value is
// written to the other side at the next reconcile, which is made due now.
func (o *Operator) ResolveConflict(ctx context.Context, id string, winner mapping.Side) error {
	return o.withConflict(ctx, id, "answered", func(c *mapping.Conflict, _ *store.Claim) error {
		if c.State != mapping.ConflictOpen && c.State != mapping.ConflictAnswered {
			return fmt.Errorf("it is %s; only one that is asked can be resolved: %w", c.State, status.ErrState)
		}
		c.State, c.Winner, c.Rule = mapping.ConflictAnswered, winner, status.Actor(ctx)+" chose "+string(winner)
		return o.store.PutConflict(ctx, *c)
	})
}

// UndoConflict makes the next reconcile, which is made due now, write the
// loser of a settled conflict back, unless the value was changed since.
func (o *Operator) UndoConflict(ctx context.Context, id string) error {
	return o.withConflict(ctx, id, "undo asked", func(c *mapping.Conflict, claim *store.Claim) error {
		if c.State != mapping.ConflictSettled {
			return fmt.Errorf("it is %s; only one that is settled can be undone: %w", c.State, status.ErrState)
		}
		if claim.Link.Undo == nil {
			claim.Link.Undo = map[mapping.Attribute]string{}
		}
		claim.Link.Undo[c.Attribute] = c.ID
		c.Again = o.now().UTC() // it does not expire meanwhile
		return o.store.PutConflict(ctx, *c)
	})
}

// withConflict changes a ledger entry, or its link, while nobody works on the
// link: a worker that is just posting the conflict's comment writes the entry,
// too. The link is due afterwards, and its history says who asked for what.
func (o *Operator) withConflict(ctx context.Context, id, what string, change func(*mapping.Conflict, *store.Claim) error) error {
	c, err := o.conflict(ctx, id)
	if err != nil {
		return err
	}
	claim, err := o.hold(ctx, store.Key{Project: c.Project, Link: c.Link})
	if err != nil {
		return fmt.Errorf("conflict %s: %w", id, err)
	}
	if c, err = o.store.Conflict(ctx, c.Project, id); err == nil {
		err = change(&c, claim)
	}
	var history []mapping.Entry
	if err == nil {
		history = []mapping.Entry{o.byActor(ctx, what, c.Attribute)}
	}
	if done := o.store.Finish(ctx, claim, claim.Link, history, store.Outcome{Kind: store.Again}); err == nil {
		err = done
	}
	if err != nil {
		return fmt.Errorf("conflict %s: %w", id, err)
	}
	o.process.Kick()
	return nil
}

// conflict finds a ledger entry in any of the projects.
func (o *Operator) conflict(ctx context.Context, id string) (mapping.Conflict, error) {
	for _, project := range o.projects() {
		if c, err := o.store.Conflict(ctx, project, id); err == nil {
			return c, nil
		}
	}
	return mapping.Conflict{}, fmt.Errorf("conflict %s: %w", id, store.ErrNotFound)
}

// byActor is the history's entry of what somebody asked for.
func (o *Operator) byActor(ctx context.Context, what string, attribute mapping.Attribute) mapping.Entry {
	return mapping.Entry{At: o.now().UTC(), Attribute: attribute, What: what, Why: "by " + status.Actor(ctx)}
}
