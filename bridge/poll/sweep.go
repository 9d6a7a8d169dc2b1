package poll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// sweepTasks visits a round's share of the tour. A tour that would take too much of the rounds
// takes longer: polls come first.
func (r *round) sweepTasks(ctx context.Context) error {
	if r.o.TaskSweepInterval <= 0 {
		return nil
	}
	began, s := r.clock.Now(), &r.Poller.sweep
	if len(s.queue) == 0 && !s.more && !began.Before(s.next) {
		if err := r.planSweep(ctx, began); err != nil {
			return err
		}
	}
	for n := 0; n < s.share && r.clock.Now().Sub(began) < r.o.Interval/2; n++ {
		if err := r.readStops(ctx); err != nil || len(s.queue) == 0 {
			return err
		}
		if next := s.queue[0]; !r.withTasks[next.card] {
			if err := r.guarded("tasks of card", next.card, func() error { return r.visit(ctx, next) }); err != nil {
				return err
			}
		}
		s.queue = s.queue[1:]
	}
	return nil
}

// readStops reads the tour's next links once all earlier ones are visited. A tour takes
// minutes, and all stops of a large project would take the memory of half its cards.
func (r *round) readStops(ctx context.Context) error {
	s := &r.Poller.sweep
	for len(s.queue) == 0 && s.more {
		links, next, err := r.o.Store.List(ctx, r.o.Project, s.cursor, store.LinksPage)
		if err != nil {
			return fmt.Errorf("list links: %w", err)
		}
		for _, l := range links {
			if stop, ok := r.stopOf(l); ok {
				s.queue = append(s.queue, stop)
			}
		}
		s.cursor, s.more = next, next != ""
	}
	return nil
}

// planSweep counts the cards of a new tour and spreads them over its rounds.
func (r *round) planSweep(ctx context.Context, now time.Time) error {
	s := &r.Poller.sweep
	interval := r.o.TaskSweepInterval
	if !s.next.IsZero() {
		interval *= tourFactor
	}
	s.next = now.Add(interval)
	cards := 0
	for l, err := range store.AllLinks(ctx, r.o.Store, r.o.Project) {
		if err != nil {
			return err
		}
		stop, ok := r.stopOf(l)
		if !ok {
			continue
		}
		cards++
		if at := l.Dates.Synced; now.Sub(at) < recentDay {
			s.recent.touch(stop.card, at, visitPeriod(r.o.TaskSweepInterval, now.Sub(at)))
		}
	}
	rounds := max(1, int(interval/r.o.Interval))
	s.share = (cards + rounds - 1) / rounds
	s.recent.cards, s.more = cards, cards > 0
	return nil
}

// stopOf is the tour's stop at a link's card, if it has one.
func (r *round) stopOf(l *mapping.Link) (sweepStop, bool) {
	orphan := l.State == mapping.Orphaned && l.Gone[mapping.Planning] > 0
	ok := l.Card.ID != "" && (orphan || l.OutlivesIssue() || l.State == mapping.Linked && (len(l.Children) > 0 || r.hasTasks(l)))
	return sweepStop{l.Card.ID, linkedTasks(l), orphan}, ok
}

// hasTasks reports whether the route synchronises the tasks of a link's card, so that a
// person's new task has to be found.
func (r *round) hasTasks(l *mapping.Link) bool {
	route := r.routes.ByName(l.Route)
	return route != nil && route.HasTasks()
}

// linkedTasks are the tasks that a link has on its card.
func linkedTasks(l *mapping.Link) []mapping.ObjectID {
	var ids []mapping.ObjectID
	for _, p := range slices.Concat(l.Children, l.SubLinks) {
		if p.State == mapping.Linked && p.Card.ID != "" {
			ids = append(ids, p.Card.ID)
		}
	}
	return ids
}

// visit reads the tasks of a card. A linked task that is no longer there was deleted or moved.
// An orphan's card that has tasks again is back. In both cases the reconcile reads the items
// itself.
func (r *round) visit(ctx context.Context, s sweepStop) error {
	tasks, err := r.o.Planning.Tasks(ctx, s.card)
	gone := errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone)
	switch {
	case gone && s.orphan:
		return nil
	case gone, err == nil && s.orphan:
		return r.add(ctx, item{obs: readCard(s.card)})
	case err != nil && (unanswered(err) || ctx.Err() != nil):
		return fmt.Errorf("read tasks of card %s: %w", s.card, err)
	case err != nil:
		r.o.Logger.Warn("tasks could not be read", "card", s.card, "err", err)
		return nil
	}
	for _, id := range s.tasks {
		if !slices.ContainsFunc(tasks, func(t mapping.Task) bool { return t.ID == id }) {
			return r.add(ctx, item{obs: readCard(s.card)})
		}
	}
	return r.takeTasks(ctx, tasks)
}

// visitRecent visits the cards that are due, as many as are granted, those touched last
// first.
func (r *round) visitRecent(ctx context.Context) error {
	s := &r.Poller.sweep.recent
	s.refill(r.began, r.o.TaskSweepInterval)
	var due []mapping.ObjectID
	now := r.began.UnixNano()
	for card, stop := range s.stops {
		switch {
		case now-stop.touched >= int64(recentDay):
			delete(s.stops, card)
		case stop.due <= now:
			due = append(due, card)
		}
	}
	slices.SortFunc(due, func(a, b mapping.ObjectID) int {
		return cmp.Or(cmp.Compare(s.stops[b].touched, s.stops[a].touched), cmp.Compare(a, b))
	})
	for _, card := range due {
		if s.grant < 1 {
			break
		}
		stop := s.stops[card]
		stop.due = now + int64(visitPeriod(r.o.TaskSweepInterval, time.Duration(now-stop.touched)))
		s.stops[card] = stop
		if err := r.guarded("tasks of card", card, func() error { return r.visitLinked(ctx, card) }); err != nil {
			return err
		}
	}
	return r.flush(ctx)
}

// visitLinked visits a card, unless a sprint shows its tasks. A card without a link that has tasks
// is no longer a stop. The bridge's first write to it, or the tour, makes it one again.
func (r *round) visitLinked(ctx context.Context, card mapping.ObjectID) error {
	if r.sprintTasked[card] {
		return nil
	}
	s := &r.Poller.sweep.recent
	key, found, err := store.FindIn(ctx, r.o.Store, []mapping.ObjectID{r.o.Project}, mapping.CardRef(card))
	if found && err == nil {
		var l *mapping.Link
		if l, err = r.o.Store.Link(ctx, key); err == nil {
			if stop, ok := r.stopOf(l); ok && stop.card == card {
				s.grant--
				return r.visit(ctx, stop)
			}
		}
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("link of card %s: %w", card, err)
	}
	delete(s.stops, card)
	return nil
}
