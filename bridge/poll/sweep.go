package poll

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// tourFactor is how much longer a later tour takes than the first one. Cards that somebody has
// just touched are visited between the rounds, see recent.go.
const tourFactor = 5

// sweep is the slow tour through the tasks of linked cards. It is not known whether the edit
// of a task changes its card's version.
type sweep struct {
	recent recent
	queue  []sweepStop // stops of the read links that this tour still has to visit
	more   bool        // it has further links to read
	cursor string      // of those
	share  int         // how many a round visits
	next   time.Time   // when the next tour begins
}

// sweepStop is a card on the tour with the tasks that its link has on it.
type sweepStop struct {
	card   mapping.ObjectID
	tasks  []mapping.ObjectID
	orphan bool // the card was gone: it may be there again
}

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
			s.recent.touch(stop.card, at, r.visitPeriod(now.Sub(at)))
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
	ok := l.Card.ID != "" && (orphan || l.State == mapping.Linked && (len(l.Children) > 0 || r.hasTasks(l)))
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
