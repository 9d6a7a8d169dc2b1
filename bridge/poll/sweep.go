package poll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/mapping"
)

// sweepPage is how many links are listed at once.
const sweepPage = 500

// sweep is the slow tour through the tasks of linked cards: whether the edit
// of a task shows in its card's version is not known.
type sweep struct {
	queue []mapping.ObjectID // cards that this tour has still to visit
	share int                // how many a round visits
	next  time.Time          // when the next tour begins
}

// sweepTasks visits a round's share of the tour. A tour that is more than the
// rounds can bear takes longer: polls come first.
func (r *round) sweepTasks(ctx context.Context) error {
	if r.o.TaskSweepInterval <= 0 {
		return nil
	}
	began, s := time.Now(), &r.Poller.sweep
	if len(s.queue) == 0 && !began.Before(s.next) {
		if err := r.planSweep(ctx, began); err != nil {
			return err
		}
	}
	for n := 0; n < s.share && len(s.queue) > 0 && time.Since(began) < r.o.Interval/2; n++ {
		card := s.queue[0]
		if !r.nested[card] {
			if err := r.visit(ctx, card); err != nil {
				return err
			}
		}
		s.queue = s.queue[1:]
	}
	return nil
}

// planSweep lists the cards of a new tour and spreads them over its rounds.
func (r *round) planSweep(ctx context.Context, now time.Time) error {
	s := &r.Poller.sweep
	s.next = now.Add(r.o.TaskSweepInterval)
	for cursor := ""; ; {
		links, next, err := r.o.Store.List(ctx, r.o.Project, cursor, sweepPage)
		if err != nil {
			return fmt.Errorf("list links: %w", err)
		}
		for _, l := range links {
			if l.State == mapping.Linked && l.Card.ID != "" && len(l.Children) > 0 {
				s.queue = append(s.queue, l.Card.ID)
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	rounds := max(1, int(r.o.TaskSweepInterval/r.o.Interval))
	s.share = (len(s.queue) + rounds - 1) / rounds
	return nil
}

func (r *round) visit(ctx context.Context, card mapping.ObjectID) error {
	tasks, err := r.o.Planning.Tasks(ctx, card)
	switch {
	case errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone):
		return r.add(ctx, item{obs: look(card)})
	case err != nil && (unanswered(err) || ctx.Err() != nil):
		return fmt.Errorf("read tasks of card %s: %w", card, err)
	case err != nil:
		r.o.Logger.Warn("tasks could not be read", "card", card, "err", err)
		return nil
	}
	for i := range tasks {
		if err := r.task(ctx, &tasks[i]); err != nil {
			return err
		}
	}
	return nil
}
