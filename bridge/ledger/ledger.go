// Package ledger shows the conflict ledger and the open questions, and takes answers.
//
// Its entry points are [New] and [NewQuestions].
package ledger

import (
	"context"
	"fmt"
	"slices"

	"planbridge/bridge/clock"
	"planbridge/bridge/links"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Settings has the present settings.
type Settings interface {
	Settings() *reconcile.Settings
}

// Queue is the queue of the service that runs.
type Queue interface {
	// Kick makes the workers check the queue now.
	Kick()
}

// Options configure a Ledger. All fields are required.
type Options struct {
	Store     store.Store
	Settings  Settings
	Holder    links.Holder
	Queue     Queue
	Questions *Questions
	Clock     clock.Clock
}

// Ledger answers operators' requests about conflicts. It is safe for concurrent use.
type Ledger struct{ o Options }

// New makes a Ledger.
func New(o Options) *Ledger { return &Ledger{o} }

func (l *Ledger) projects() []mapping.ObjectID { return l.o.Settings.Settings().Routes.Projects() }

// Conflicts lists the newest entries of the conflict ledger, newest first.
func (l *Ledger) Conflicts(ctx context.Context, limit int) ([]mapping.Conflict, error) {
	var out []mapping.Conflict
	for _, project := range l.projects() {
		cs, _, err := l.o.Store.Conflicts(ctx, project, "", limit)
		if err != nil {
			return nil, fmt.Errorf("list conflicts: %w", err)
		}
		out = append(out, cs...)
	}
	slices.SortStableFunc(out, func(a, b mapping.Conflict) int { return b.At.Compare(a.At) })
	return out[:min(limit, len(out))], nil
}

// ResolveConflict answers an open question. The next reconcile, which is made due now, writes the
// winner's value to the other side.
func (l *Ledger) ResolveConflict(ctx context.Context, id string, winner mapping.Side) error {
	return l.withConflict(ctx, id, "answered", func(c *mapping.Conflict, _ *store.Claim) error {
		if c.State != mapping.ConflictOpen && c.State != mapping.ConflictAnswered {
			return fmt.Errorf("it is %s; only one that is asked can be resolved: %w", c.State, status.ErrState)
		}
		c.State, c.Winner, c.AnsweredBy = mapping.ConflictAnswered, winner, status.Actor(ctx)
		c.Rule = c.AnsweredBy + " answered: " + string(winner)
		return l.o.Store.PutConflict(ctx, *c)
	})
}

// UndoConflict makes the next reconcile, which is made due now, write the
// loser of a settled conflict back, unless the value was changed since.
func (l *Ledger) UndoConflict(ctx context.Context, id string) error {
	return l.withConflict(ctx, id, "undo asked", func(c *mapping.Conflict, claim *store.Claim) error {
		if c.State != mapping.ConflictSettled {
			return fmt.Errorf("it is %s; only one that is settled can be undone: %w", c.State, status.ErrState)
		}
		if claim.Link.Undo == nil {
			claim.Link.Undo = map[mapping.Attribute]string{}
		}
		claim.Link.Undo[c.Attribute] = c.ID
		c.UndoneBy = status.Actor(ctx)
		c.Again = l.o.Clock.Now().UTC() // it does not expire meanwhile
		return l.o.Store.PutConflict(ctx, *c)
	})
}

// withConflict changes a ledger entry, or its link, while nobody works on the link. A worker that
// is posting the conflict's comment also writes the entry. The link is due afterwards, and its
// history names the operator and the request.
func (l *Ledger) withConflict(ctx context.Context, id, what string, change func(*mapping.Conflict, *store.Claim) error) error {
	c, err := l.conflict(ctx, id)
	if err != nil {
		return err
	}
	claim, err := l.o.Holder.Hold(ctx, store.Key{Project: c.Project, Link: c.Link})
	if err != nil {
		return fmt.Errorf("conflict %s: %w", id, err)
	}
	if claim.Link.Parted {
		err = fmt.Errorf("its pair was parted, and nothing is written to either side: %w", status.ErrState)
	} else if c, err = l.o.Store.Conflict(ctx, c.Project, id); err == nil {
		err = change(&c, claim)
	}
	var history []mapping.Entry
	if err == nil {
		history = []mapping.Entry{l.o.Holder.Entry(ctx, what, c.Attribute)}
	}
	if done := l.o.Store.Finish(ctx, claim, claim.Link, history, store.Outcome{Kind: store.Again}); err == nil {
		err = done
	}
	if err != nil {
		return fmt.Errorf("conflict %s: %w", id, err)
	}
	l.o.Queue.Kick()
	return nil
}

// conflict finds a ledger entry in any of the projects.
func (l *Ledger) conflict(ctx context.Context, id string) (mapping.Conflict, error) {
	for _, project := range l.projects() {
		if c, err := l.o.Store.Conflict(ctx, project, id); err == nil {
			return c, nil
		}
	}
	return mapping.Conflict{}, fmt.Errorf("conflict %s: %w", id, store.ErrNotFound)
}
