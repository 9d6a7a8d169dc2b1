package poll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/bridge/guard"
	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
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

func (p *Poller) newRound(began time.Time) *round {
	return &round{
		Poller: p, began: began, complete: true, routes: p.o.Settings.Routes(), keys: p.o.Settings.Keys().In(p.o.Project),
		roles: map[seen.Bucket]bucketRole{}, sprints: map[mapping.ObjectID]bool{},
		sprintCards: map[mapping.ObjectID]*sprintCard{}, withTasks: map[mapping.ObjectID]bool{},
	}
}

// run reads everything, the sprints first, so that the backlog's cards can be joined with the
// sprints' as they stream in. An error means that planning or the store did not answer;
// complete is false where a single sprint could not be read.
func (r *round) run(ctx context.Context) error {
	if err := r.readSprints(ctx); err != nil {
		return err
	}
	if err := r.readBacklog(ctx); err != nil {
		return err
	}
	for _, s := range mapping.Sorted(r.sprintCards) {
		err := r.guarded("card", s.card.ID, func() error {
			s.card.BucketName = r.buckets[s.card.Bucket]
			return r.card(ctx, &s.card, s.sprint)
		})
		if err != nil {
			return err
		}
	}
	if err := r.takeTasks(ctx, r.sprintTasks); err != nil {
		return err
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	r.keepReading()
	r.o.Host.Answered(ctx)
	if r.refused != nil {
		return fmt.Errorf("observe: %w", r.refused)
	}
	if r.light {
		return nil
	}
	r.Poller.sprintTasked = r.withTasks
	return r.complement(ctx)
}

// complement does the work that needs a complete round.
func (r *round) complement(ctx context.Context) error {
	if err := r.record(ctx); err != nil {
		return err
	}
	if !r.adopting {
		r.report.log(ctx, r.o.Logger)
	}
	if err := r.queueMissing(ctx); err != nil {
		return err
	}
	r.recordBurndowns(ctx)
	if err := r.sweepTasks(ctx); err != nil {
		return err
	}
	return r.flush(ctx)
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
