package poll

import (
	"math"
	"time"

	"planbridge/mapping"
)

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

const (
	// tourFactor is how much longer a later tour takes than the first one. Cards that somebody has
	// just touched are visited between the rounds.
	tourFactor = 5
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

// visitPeriod is the time between two visits of a card, by the time since it was touched. All
// cards are visited once in an interval.
func visitPeriod(interval, age time.Duration) time.Duration {
	if age < recentHour {
		return min(max(interval/hourShare, hourBound), interval)
	}
	return min(max(interval/dayShare, dayBound), interval)
}
