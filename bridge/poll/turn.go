package poll

import (
	"context"
	"fmt"
	"time"

	"planbridge/bridge/factlog"
	"planbridge/bridge/guard"
	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
	"planbridge/store"
)

// Run polls until ctx ends, whenever this replica holds the project's lease.
func (p *Poller) Run(ctx context.Context) {
	defer p.lease.Release(ctx)
	p.lease.Every(ctx, p.o.Guard, "round of the poll of "+p.o.Name, p.clock, p.pace.pause, p.turn)
}

// turn does one round where this replica has the lease.
func (p *Poller) turn(ctx context.Context) {
	p.pace.wait()
	if epoch, err := p.o.Store.Epoch(ctx); err == nil && p.grace.waits(p.clock.Now(), epoch, p.lease.TTL) {
		return
	}
	held, kept, err := p.lease.Acquire(ctx)
	if err == nil && held && p.grace.follows {
		// The lease may be free because it was lost with the store after the last check.
		if epoch, err := p.o.Store.Epoch(ctx); err != nil || p.grace.waits(p.clock.Now(), epoch, p.lease.TTL) {
			p.lease.Release(ctx)
			return
		}
	}
	if err == nil {
		if p.grace.follows = !held; !held {
			p.o.Logger.Info("another replica polls the project", factlog.Over, FactNotPolled)
		}
	}
	if !kept {
		p.forget() // another replica may have polled meanwhile
	}
	if err == nil && held {
		err = p.lease.Hold(ctx, p.o.Guard, "poll", p.o.Name, p.next)
	}
	if err != nil && ctx.Err() == nil && !guard.Panicked(err) {
		level, fact := factlog.Answer(err, FactNotPolled)
		p.o.Logger.Log(ctx, level, "poll", "err", err, factlog.Fact, fact)
		p.o.Host.Failed(err)
	}
}

// FactNotPolled names the fact that polls fail although the service answers.
const FactNotPolled = "a project is not polled"

// takeoverGrace lets the replica that polled before a loss of the store poll first after it.
// Only that replica remembers the earlier cards, so that cards that people made since then
// enter. To any other replica they would be old. Another replica takes over where that one
// does not go on within a lease's time.
type takeoverGrace struct {
	epoch   string    // of the store, as of the last turn
	follows bool      // another replica held the lease then
	until   time.Time // it is given until then
}

// waits reports whether this replica leaves its turn to another one.
func (s *takeoverGrace) waits(now time.Time, epoch string, ttl time.Duration) bool {
	if s.follows && s.epoch != epoch {
		s.until = now.Add(ttl)
	}
	s.epoch = epoch
	return now.Before(s.until)
}

// forget makes the next load read the caches from the store. They are kept until then, as they are
// the only source where the store lost its marks.
func (p *Poller) forget() {
	p.forgets.Add(1)
	p.dropped.drain()
}

// Poll does one round, whoever holds the lease. A process that saw nothing before does a second
// round at once, to compare the two. An error names the unread or unstored part; everything else is
// stored.
func (p *Poller) Poll(ctx context.Context) error {
	if err := p.atWork.Take(ctx); err != nil {
		return err
	}
	defer p.atWork.End()
	return p.poll(ctx, false)
}

// next does the round that is due: a full one, or a light one between two full ones.
func (p *Poller) next(ctx context.Context) error {
	if err := p.atWork.Take(ctx); err != nil {
		return err
	}
	defer p.atWork.End()
	now := p.clock.Now()
	var err error
	if now.Before(p.roundDue) {
		err = p.between(ctx, now)
		p.pace.next.Store(int64(p.untilRound()))
	} else {
		err = p.poll(ctx, p.pace.lightDue(now))
		pause := p.pace.pause()
		p.roundDue = p.clock.Now().Add(pause - pause/8) // turns come up to a tenth early
	}
	if err == nil {
		p.visitSooner()
	}
	return err
}

// untilRound is the pause after which the next turn's round is due.
func (p *Poller) untilRound() time.Duration {
	if p.roundDue.IsZero() {
		return time.Millisecond
	}
	return max(p.roundDue.Sub(p.clock.Now())*8/7, time.Millisecond)
}

// between visits recently touched cards between two rounds. Where the store is another one by
// now, a round is due at once.
func (p *Poller) between(ctx context.Context, now time.Time) error {
	if _, err := p.load(ctx); err != nil {
		return err
	}
	if !p.settled {
		p.roundDue = time.Time{}
		return nil
	}
	r := p.newRound(now)
	r.light = true
	if err := r.visitRecent(ctx); err != nil {
		return fmt.Errorf("read tasks of %s: %w", p.o.Name, err)
	}
	return nil
}

// visitSooner advances the next turn where a visit is due before the next round.
func (p *Poller) visitSooner() {
	if !p.settled {
		return
	}
	if at := p.sweep.recent.next(p.o.TaskSweepInterval); !at.IsZero() {
		p.pace.next.Store(int64(min(p.pace.pause(), max(at.Sub(p.clock.Now()), visitGrain))))
	}
}

func (p *Poller) poll(ctx context.Context, light bool) error {
	began, rounds := p.clock.Now(), p.listing.rounds
	err := p.round(ctx, light)
	if err == nil && rounds == 0 && p.listing.rounds == 1 && !p.readAll {
		err = p.round(ctx, false)
	}
	if err != nil {
		p.pace.rest()
		return fmt.Errorf("poll %s: %w", p.o.Name, err)
	}
	p.pace.done(began, p.clock.Now())
	return nil
}

// round does one round. A light one needs caches that a full round filled.
func (p *Poller) round(ctx context.Context, light bool) error {
	began := p.clock.Now()
	adopted, err := p.load(ctx)
	if err != nil {
		return err
	}
	if err := p.forgetDropped(ctx); err != nil {
		return err
	}
	r := p.newRound(began)
	r.adopting, r.light = !adopted && !p.readAll, light && p.settled
	if r.light {
		return r.run(ctx)
	}
	p.rounds++
	if r.adopting {
		unlisted, err := p.unlistedRepository(ctx)
		if err != nil {
			return err
		}
		r.observeAll = unlisted == ""
	}
	if err := r.run(ctx); err != nil || !r.complete {
		return err
	}
	return p.completed(ctx, r, adopted)
}

// completed records that a full round saw everything.
func (p *Poller) completed(ctx context.Context, r *round, adopted bool) error {
	p.lastComplete, p.settled = r.began, adopted
	p.pace.full, p.pace.calls, p.pace.sprints = r.began, r.calls, r.listed
	p.confirmed.shown(p.cards)
	if r.adopting && r.began.Sub(p.o.Host.LostAt()) >= p.o.Settle && p.listing.accepts(r) {
		p.readAll, p.observedAll = true, r.observeAll
	}
	if adopted {
		p.listing, p.report = listingGuard{}, adoptionReport{}
	}
	if !adopted && p.readAll {
		if err := p.adopt(ctx); err != nil {
			return err
		}
	}
	now := p.clock.Now()
	p.o.Metrics.duration.WithLabelValues(p.o.Name).Observe(now.Sub(r.began).Seconds())
	p.o.Metrics.success.WithLabelValues(p.o.Name).Set(float64(now.UnixMilli()) / 1000)
	return nil
}

// load loads the caches unless they are the store's, and reports whether the store's epoch was
// adopted for the project.
func (p *Poller) load(ctx context.Context) (adopted bool, err error) {
	epoch, err := p.o.Store.Epoch(ctx)
	if err != nil {
		return false, fmt.Errorf("read the store's epoch: %w", err)
	}
	doc, err := store.ReadDoc(ctx, p.o.Store, p.o.Project, store.DocAdopted)
	if err != nil {
		return false, err
	}
	if adopted = string(doc) == epoch; adopted {
		p.readAll = false
	}
	forgets := p.forgets.Load()
	if p.epoch == epoch {
		p.unsure = nil
	}
	if p.cards != nil && p.epoch == epoch && p.loaded == forgets {
		p.settled = p.settled && adopted
		return adopted, nil
	}
	p.loaded, p.settled = -1, false
	p.restarted = !adopted && p.o.Host.IsSameStore(string(doc), epoch)
	if !adopted {
		if err := p.o.Store.Repair(ctx, p.o.Project); err != nil {
			return false, err
		}
	}
	cards, err := seen.Load(ctx, p.o.Store, p.o.Project, SetCards)
	if err != nil {
		return false, err
	}
	tasks, err := seen.Load(ctx, p.o.Store, p.o.Project, SetTasks)
	if err != nil {
		return false, err
	}
	var known seen.Baseline
	if _, err := store.ReadJSON(ctx, p.o.Store, p.o.Project, seen.DocBaseline, &known); err != nil {
		return false, err
	}
	if known == nil && p.baseline != nil {
		known = p.baseline
		cards.Inherit(p.cards)
		tasks.Inherit(p.tasks)
	}
	if p.cards != nil {
		p.listing.inherit(p.cards, p.clock.Now())
	}
	cards.Doubt(p.unsure)
	tasks.Doubt(p.unsure)
	p.memory = memory{epoch: epoch, cards: cards, tasks: tasks, baseline: known, buckets: map[mapping.ObjectID]string{}}
	p.readAll, p.loaded = false, forgets
	return adopted, nil
}
