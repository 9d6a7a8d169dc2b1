package poll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

const (
	// recentHour and recentDay say how long a card counts as touched just now, and today.
	recentHour, recentDay = time.Hour, 24 * time.Hour
	// hourShare and dayShare are how many visits in a TaskSweepInterval a card gets that was
	// touched within the hour, and within the day. Neither comes faster than its bound.
	hourShare, dayShare = 80, 11
	hourBound, dayBound = 5 * time.Second, 30 * time.Second
	// fewVisits is how many visits an interval grants where the project has fewer cards.
	fewVisits = 100
	// visitGrain is the shortest pause between two turns.
	visitGrain = time.Second
)

// recent are the cards that somebody touched within the day. Their tasks are read between
// the rounds. All visits together are as many as one for each card in each interval.
type recent struct {
	stops  map[mapping.ObjectID]recentStop
	cards  int     // of the last tour
	grant  float64 // visits that may be made now
	filled time.Time
}

// recentStop has its times in Unix nanoseconds: an import leaves one for each card.
type recentStop struct{ touched, due int64 }

// touch notes that a card was touched. It is visited after a pause.
func (s *recent) touch(card mapping.ObjectID, at time.Time, pause time.Duration) {
	if s.stops == nil {
		s.stops = map[mapping.ObjectID]recentStop{}
	}
	stop, known := s.stops[card]
	due := at.Add(pause).UnixNano()
	if known {
		due = min(due, stop.due)
	}
	s.stops[card] = recentStop{max(stop.touched, at.UnixNano()), due}
}

// visits is how many visits an interval grants: those that the tour leaves.
func (s *recent) visits() float64 { return float64(max(s.cards-s.cards/tourFactor, fewVisits)) }

// refill grants the visits for the time since the last call.
func (s *recent) refill(now time.Time, interval time.Duration) {
	each := s.visits()
	if !s.filled.IsZero() {
		s.grant += each * float64(now.Sub(s.filled)) / float64(interval)
	}
	s.grant, s.filled = min(s.grant, max(each/10, 1)), now
}

// next is when the next visit is due and granted; zero: none is.
func (s *recent) next(interval time.Duration) (at time.Time) {
	if len(s.stops) == 0 {
		return at
	}
	first := int64(math.MaxInt64)
	for _, stop := range s.stops {
		first = min(first, stop.due)
	}
	at = time.Unix(0, first)
	if s.grant < 1 {
		granted := s.filled.Add(time.Duration((1 - s.grant) / s.visits() * float64(interval)))
		if granted.After(at) {
			at = granted
		}
	}
	return at
}

// visitPeriod is the time between two visits of a card, by the time since it was touched.
func (p *Poller) visitPeriod(age time.Duration) time.Duration {
	interval := p.o.TaskSweepInterval
	if age < recentHour {
		return min(max(interval/hourShare, hourBound), interval)
	}
	return min(max(interval/dayShare, dayBound), interval)
}

// touched notes that an edit of a card or of its tasks was seen.
func (r *round) touched(card mapping.ObjectID) {
	if card != "" && r.o.TaskSweepInterval > 0 && !r.adopting {
		r.Poller.sweep.recent.touch(card, r.began, r.visitPeriod(0))
	}
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
		stop.due = now + int64(r.visitPeriod(time.Duration(now-stop.touched)))
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
