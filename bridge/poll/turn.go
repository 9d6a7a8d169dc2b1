package poll

import (
	"context"
	"fmt"
	"time"

	"planbridge/bridge/factlog"
	"planbridge/bridge/guard"
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
