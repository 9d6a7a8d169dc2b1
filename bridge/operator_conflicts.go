package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// ResolveConflict answers an attribute that is asked: the winner's value is
// written to the other side at the next reconcile, which is made due now.
func (o *Operator) ResolveConflict(ctx context.Context, id string, winner mapping.Side) error {
	c, err := o.conflict(ctx, id)
	if err != nil {
		return err
	}
	if c.State != mapping.ConflictOpen && c.State != mapping.ConflictAnswered {
		return fmt.Errorf("conflict %s is %s, only one that is asked can be resolved: %w", id, c.State, status.ErrState)
	}
	c.State, c.Winner, c.Rule = mapping.ConflictAnswered, winner, "an operator chose "+string(winner)
	if err := o.store.PutConflict(ctx, c); err != nil {
		return fmt.Errorf("resolve conflict %s: %w", id, err)
	}
	return o.due(ctx, store.Key{Project: c.Project, Link: c.Link})
}

// undoLease is how long the link's key is held to note what is to be undone.
const undoLease = 10 * time.Second

// UndoConflict makes the next reconcile, which is made due now, write the
// loser of a settled conflict back, unless the value was changed since.
func (o *Operator) UndoConflict(ctx context.Context, id string) error {
	c, err := o.conflict(ctx, id)
	if err != nil {
		return err
	}
	if c.State != mapping.ConflictSettled {
		return fmt.Errorf("conflict %s is %s, only one that is settled can be undone: %w", id, c.State, status.ErrState)
	}
	key := store.Key{Project: c.Project, Link: c.Link}
	claim, err := o.store.ClaimKey(ctx, key, undoLease)
	if errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("undo conflict %s: its link is being worked, try again: %w", id, status.ErrState)
	}
	if err != nil {
		return fmt.Errorf("undo conflict %s: %w", id, err)
	}
	if claim.Link.Undo == nil {
		claim.Link.Undo = map[mapping.Attribute]string{}
	}
	claim.Link.Undo[c.Attribute] = c.ID
	if err := o.store.Finish(ctx, claim, claim.Link, nil, store.Outcome{Kind: store.Again}); err != nil {
		return fmt.Errorf("undo conflict %s: %w", id, err)
	}
	o.kick()
	return nil
}

// conflict finds a ledger entry in any of the projects.
func (o *Operator) conflict(ctx context.Context, id string) (mapping.Conflict, error) {
	for _, project := range o.set().projects() {
		if c, err := o.store.Conflict(ctx, project, id); err == nil {
			return c, nil
		}
	}
	return mapping.Conflict{}, fmt.Errorf("conflict %s: %w", id, store.ErrNotFound)
}

func (o *Operator) due(ctx context.Context, key store.Key) error {
	if err := o.store.Enqueue(ctx, key, 0, false); err != nil {
		return fmt.Errorf("make %s due: %w", key, err)
	}
	o.kick()
	return nil
}
