package poll

import (
	"context"
	"fmt"

	"planbridge/mapping"
)

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
	if r.adopting && r.began.Sub(p.o.Host.LostAt()) >= p.o.Settle && r.provesAbsence() {
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
