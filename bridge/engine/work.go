package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/store"
)

// shutdownGrace bounds how long a key in hand at shutdown takes to be given back.
const shutdownGrace = 3 * time.Second

// Work works one claimed key and finishes the claim. No slot bounds it.
func (e *Engine) Work(ctx context.Context, claim *store.Claim) {
	e.work(ctx, claim, &slot{}, func() bool { return false })
}

// work is Work for a key that has a slot. Where more returns true at the end, work claims and
// returns the next key, or nil where none is due.
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
			res.Link = claim.Link // no later claim has AfterAbandoned
		}
		e.conclude(e.Core.Log(claim), claim.Link.Route, v)
		return e.end(ctx, claim, res, v, more())
	}
	if suspect {
		defer e.isolation.suspect.Store(false)
	}
	return e.workNow(ctx, claim, s, more)
}

// workNow lets the core work a key, and finishes the claim.
func (e *Engine) workNow(ctx context.Context, claim *store.Claim, s *slot, more func() bool) *store.Claim {
	start, route := e.Clock.Now(), claim.Link.Route
	// All of it ends before the lease and with the session, the finishing included. Writes end
	// earlier still (see keyLease.Writing).
	ctx, unbind := e.Session.Bound(ctx, claim.Session)
	defer unbind()
	ctx, cancel := context.WithDeadline(ctx, claim.Until.Add(-LeaseMargin(e.LeaseTTL)/2))
	defer cancel()
	s.over = ctx.Done()
	res, err := e.runCore(ctx, claim, s)
	if errors.Is(err, errOverdue) { // the core still has the link
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

// rest decides the outcome of a key that the core worked. It notes in the link how often the key
// was put off.
func (e *Engine) rest(claim *store.Claim, res reconcile.Result) verdict {
	s := decisionInput{attempts: claim.Attempts, retry: e.Host.Retry(), now: e.Clock.Now(), random: e.Clock.Int64N}
	if res.Link != nil {
		s.deferred = res.Link.Deferred
	}
	v := decide(res.Rest, s)
	if res.Link != nil {
		res.Link.Deferred = v.deferred
	}
	return v
}

// conclude writes the outcome of a key to the log and the metrics.
func (e *Engine) conclude(log *slog.Logger, route string, v verdict) {
	v.report(log)
	e.Metrics.Reconciles.WithLabelValues(route, v.result).Inc()
}

// end finishes the claim. It returns the next one where more is true.
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

// finish finishes the claim, without the link where the store refuses that.
func (e *Engine) finish(ctx context.Context, claim *store.Claim, res reconcile.Result, out store.Outcome, more bool) (next *store.Claim, err error) {
	for {
		if more {
			next, err = e.Store.FinishAndClaim(ctx, claim, res.Link, res.History, out, e.LeaseTTL)
		} else {
			err = e.Store.Finish(ctx, claim, res.Link, res.History, out)
		}
		taken := errors.Is(err, store.ErrConflict) // another link holds its item by now
		if res.Link == nil || !taken && !errors.As(err, new(*store.SizeError)) {
			if err == nil {
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
		v.report(e.Core.Log(claim))
		out = v.Outcome
	}
}
