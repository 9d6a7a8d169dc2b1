package poll

import (
	"errors"
	"time"

	"planbridge/bridge/guard"
	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
	"planbridge/store"
)

const (
	// endedSprintTime is how long an ended sprint is polled like a live one.
	endedSprintTime = 14 * 24 * time.Hour
	// oldSprintRounds is how many rounds lie between two reads of an older sprint; old sprints
	// take turns.
	oldSprintRounds = 10
	// batchSize is how many observations are stored at once.
	batchSize = 200
	// backlogListing is the listing of the backlog's cards. No sprint has this id.
	backlogListing = mapping.ObjectID("\x00backlog")
)

// round is one reading of a whole project, or a light one of its active parts.
type round struct {
	*Poller
	began      time.Time
	routes     mapping.Routes
	keys       mapping.Keys
	light      bool  // only listings in which somebody works are read, and only newer versions count
	adopting   bool  // everything is read, and whatever is marked is observed
	observeAll bool  // every card is observed: the links that GitHub's markers name are all there
	calls      int   // to planning, without the sweep
	complete   bool  // no listing failed so far
	deferred   bool  // an item was left to a later round
	refused    error // why the store did not take an item; nil: it took all

	listed      []Sprint                  // as they were listed
	sprints     map[mapping.ObjectID]bool // those that exist; true: read in this round
	sprintCards map[mapping.ObjectID]*sprintCard
	withTasks   map[mapping.ObjectID]bool // cards whose tasks the sprints showed
	sprintTasks []mapping.Task            // their tasks, which are handled after their cards
	tag         string                    // of the backlog's answer
	bucket      openBucket                // that the backlog shows
	text        uint64                    // hash of the text of the card in hand, see openBucket; 0: the backlog is not its only source
	roles       map[seen.Bucket]bucketRole
	batch       []item
}

// openBucket is the bucket whose cards stream by.
type openBucket struct {
	name seen.Bucket
	seed uint64      // of the hashes of its cards' texts
	role *bucketRole // nil: not asked yet
}

// sprintCard is a card as the sprints show it.
type sprintCard struct {
	card   mapping.Card
	sprint mapping.ObjectID
}

// item is an observation of a card or a task that is stored, and then cached.
type item struct {
	obs   *store.Observation // nil: only to be remembered
	cache *seen.Cache        // nil: not to be remembered
	id    mapping.ObjectID
	entry seen.Entry
	err   error // why the store did not take it
	// left is the route whose bucket had the card, with the number cid, when the project was
	// adopted; "": none.
	left string
	cid  int64
}

func (p *Poller) newRound(began time.Time) *round {
	return &round{
		Poller: p, began: began, complete: true, routes: p.o.Settings.Routes(), keys: p.o.Settings.Keys().In(p.o.Project),
		roles: map[seen.Bucket]bucketRole{}, sprints: map[mapping.ObjectID]bool{},
		sprintCards: map[mapping.ObjectID]*sprintCard{}, withTasks: map[mapping.ObjectID]bool{},
	}
}

// guarded handles one item. Where the program panics on it, the round goes on without it but
// adopts nothing: not every marked item has been seen.
func (r *round) guarded(what string, id mapping.ObjectID, take func() error) error {
	err := r.o.Guard.Do(what, string(id), take)
	if !guard.Panicked(err) {
		return err
	}
	r.complete, r.deferred = r.complete && !r.adopting, true
	return nil
}

// unanswered reports whether the service does not answer, so that the rest of the round is
// useless. A refusal of one item is no such error.
func unanswered(err error) bool {
	var limited *mapping.RateLimited
	return errors.Is(err, mapping.ErrUnavailable) || errors.Is(err, mapping.ErrUnauthorized) || errors.As(err, &limited)
}

// touched notes that an edit of a card or of its tasks was seen.
func (r *round) touched(card mapping.ObjectID) {
	if card != "" && r.o.TaskSweepInterval > 0 && !r.adopting {
		r.Poller.sweep.recent.touch(card, r.began, visitPeriod(r.o.TaskSweepInterval, 0))
	}
}
