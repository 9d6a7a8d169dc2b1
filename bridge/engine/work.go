package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/store"
)

// shutdownGrace is how long a key that was in hand at shutdown may take to be given
// back.
const shutdownGrace = 3 * time.Second

// Work works one claimed key to its end and finishes the claim. No slot bounds it.
func (e *Engine) Work(ctx context.Context, claim *store.Claim) {
	e.work(ctx, claim, &slot{}, func() bool { return false })
}

// work is Work for a key that has a slot. Where more says so when the key is finished, it
// returns the claim of the next one, or nil where none is due.
func (e *Engine) work(ctx context.Context, claim *store.Claim, s *slot, more func() bool) *store.Claim {
	e.working.Store(claim.Key, true)
	defer e.working.Delete(claim.Key)
	if claim.AfterAbandoned {
		e.Core.CutOff(claim.Link, e.Clock.Now().UTC())
	}
	suspect := e.isSuspect(claim)
	if v, hold := e.precaution(claim, suspect); hold {
		var res reconcile.Result
		if claim.AfterAbandoned {
			res.Link = claim.Link // no later claim tells of the death
		}
		e.conclude(e.Core.Log(claim), claim.Link.Route, v)
		return e.end(ctx, claim, res, v, more())
	}
	if suspect {
		defer e.isolation.suspect.Store(false)
	}
	return e.workNow(ctx, claim, s, more)
}

// workNow has the core work a key, and finishes the claim.
func (e *Engine) workNow(ctx context.Context, claim *store.Claim, s *slot, more func() bool) *store.Claim {
	start, route := e.Clock.Now(), claim.Link.Route
	// Everything, the finishing included, ends before the lease does, and with the
	// session; writes end earlier still (see lease.Writing).
	ctx, unbind := e.Session.Bound(ctx, claim.Session)
	defer unbind()
	ctx, cancel := context.WithDeadline(ctx, claim.Until.Add(-LeaseMargin(e.LeaseTTL)/2))
	defer cancel()
	s.begin(ctx.Done())
	res, err := e.attend(ctx, claim, s)
	if errors.Is(err, errOverdue) { // the link is still the core's
		v := e.overdue(ctx, claim)
		e.conclude(e.Logger.With("link", claim.Key.Link, "route", route), route, v)
		return e.end(ctx, claim, reconcile.Result{}, v, false)
	}
	s.Release()
	v := e.rest(claim, res)
	e.conclude(e.Core.Log(claim), claim.Link.Route, v)
	if res.Rest.Kind == reconcile.RestLost {
		return nil
	}
	e.Metrics.Duration.WithLabelValues(claim.Link.Route).Observe(e.Clock.Now().Sub(start).Seconds())
	return e.end(ctx, claim, res, v, more())
}

// rest decides what becomes of a key that the core worked, and notes in its link how often
// it was put off.
func (e *Engine) rest(claim *store.Claim, res reconcile.Result) verdict {
	s := standing{attempts: claim.Attempts, retry: e.Host.Retry(), now: e.Clock.Now(), random: e.Clock.Int64N}
	if res.Link != nil {
		s.deferred = res.Link.Deferred
	}
	v := decide(res.Rest, s)
	if res.Link != nil {
		res.Link.Deferred = v.deferred
	}
	return v
}

// conclude tells the log and the metrics what becomes of a key.
func (e *Engine) conclude(log *slog.Logger, route string, v verdict) {
	v.tell(log)
	e.Metrics.Reconciles.WithLabelValues(route, v.result).Inc()
}

// end finishes the claim, and returns the next one where more asks for it.
func (e *Engine) end(ctx context.Context, claim *store.Claim, res reconcile.Result, v verdict, more bool) *store.Claim {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	next, err := e.finish(ctx, claim, res, v.Outcome, more)
	if err != nil {
		e.Logger.Warn("finishing", "link", claim.Key.Link, "err", err)
		return nil
	}
	switch {
	case v.Kind == store.Wait:
		e.Host.Waits(ctx, claim.Key.Project, v.Service)
	case v.Kind == store.Again && v.After < idlePoll:
		e.Kick()
	}
	return next
}

// finish ends the claim. Where the store does not take the link, it does so without.
func (e *Engine) finish(ctx context.Context, claim *store.Claim, res reconcile.Result, out store.Outcome, more bool) (next *store.Claim, err error) {
	for {
		if more {
			next, err = e.Store.FinishAndClaim(ctx, claim, res.Link, res.History, out, e.LeaseTTL)
		} else {
			err = e.Store.Finish(ctx, claim, res.Link, res.History, out)
		}
		taken := errors.Is(err, store.ErrConflict) // what it has is another link's by now
		if res.Link == nil || !taken && !errors.As(err, new(*store.SizeError)) {
			if err == nil && e.Observer != nil {
				e.Observer.Did(claim.Link, res.History)
			}
			return next, err
		}
		rest := e.Core.Refused(claim, res.Link, err)
		if rest == nil {
			continue
		}
		res.Link, res.Rest = nil, *rest
		if taken {
			res.History = nil
		}
		v := e.rest(claim, res)
		v.tell(e.Core.Log(claim))
		out = v.Outcome
	}
}
