package reconcile

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
)

// idlePoll is how often the queue is looked at when nothing says that a key is
// due: other replicas make keys due without a word to this one.
const idlePoll = time.Second

// rowMost is how many keys of one project a worker takes in a row where there
// are other projects, whose keys wait meanwhile: for no more than rowTime and one
// reconcile, since with slow services as many take long.
const (
	rowMost = 16
	rowTime = 250 * time.Millisecond
)

// handBack is how long a key that was in hand at shutdown may take to be given
// back.
const handBack = 3 * time.Second

// Run works the queues of all projects, in turn, until ctx ends; then it waits
// until what is in hand is finished or handed back. drain bounds how long work
// under way may go on after ctx has ended.
func (r *Reconciler) Run(ctx context.Context, drain time.Duration) {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var inHand sync.WaitGroup
	defer inHand.Wait()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(drain, stop) })()

	s := newSeats(max(1, r.Concurrency), r.Beside)
	for next := 0; ; next++ {
		select {
		case s.hands <- struct{}{}:
		case <-ctx.Done():
			return
		}
		claim, wait := r.claimNext(ctx, next)
		if claim == nil {
			<-s.hands
			if !r.pause(ctx, wait) {
				return
			}
			continue
		}
		r.Guard.Spawn(&inHand, "worker", func() {
			p := &place{seats: s}
			defer p.drop()
			r.serve(ctx, work, claim, p)
		})
	}
}

// InHand is how many keys this process works at the moment; those that wait for
// a later look are none of them. It is safe for concurrent use.
func (r *Reconciler) InHand() int { return int(r.inHand.Load()) }

// Works reports whether this process works a key at the moment. It is safe for concurrent
// use.
func (r *Reconciler) Works(key store.Key) bool {
	_, yes := r.working.Load(key)
	return yes
}

// serve works a key, and then what ending one hands on: until nothing is due,
// ctx ends, the other projects have their turn, or a key gave the hand away.
func (r *Reconciler) serve(ctx, work context.Context, claim *store.Claim, p *place) {
	r.inHand.Add(1)
	defer r.inHand.Add(-1)
	project, end := claim.Key.Project, time.Now().Add(rowTime)
	for row := 1; claim != nil; row++ {
		claim = r.guardedWork(work, claim, p, func() bool {
			projects := r.Projects()
			return ctx.Err() == nil && r.Session.Alive() && !p.handless && slices.Contains(projects, project) && (row < rowMost && time.Now().Before(end) || len(projects) == 1)
		})
	}
}

// guardedWork is work whose panics, beside those of the work itself, cost one claim
// alone: nobody ends it, which is counted.
func (r *Reconciler) guardedWork(ctx context.Context, claim *store.Claim, p *place, more func() bool) (next *store.Claim) {
	_ = r.Guard.Do("key", claim.Key.String(), func() error {
		next = r.work(ctx, claim, p, more)
		return nil
	}) // it was logged
	return next
}

// claimNext asks the projects in turn, beginning with the given one, so that a
// busy project does not starve the others.
func (r *Reconciler) claimNext(ctx context.Context, from int) (*store.Claim, time.Duration) {
	projects, wait := r.Projects(), idlePoll
	if !r.Session.Alive() {
		return nil, wait
	}
	for i := range projects {
		project := projects[(from+i)%len(projects)]
		var claim *store.Claim
		var next time.Duration
		err := r.Guard.Do("claim in", string(project), func() (err error) {
			claim, next, err = r.Store.Claim(ctx, project, r.LeaseTTL)
			return err
		})
		switch {
		case err != nil && ctx.Err() == nil && !guard.Panicked(err):
			r.Logger.Warn("claiming from the queue", "project", project, "err", err)
		case claim != nil:
			return claim, 0
		case next > 0:
			wait = min(wait, next)
		}
	}
	return nil, wait
}

func (r *Reconciler) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-r.kick:
	}
	return true
}

// Work works one claimed key to its end and finishes the claim.
func (r *Reconciler) Work(ctx context.Context, claim *store.Claim) {
	r.work(ctx, claim, &place{}, func() bool { return false })
}

// work is Work for who has the place p. Where more says so when the key
// is finished, it returns the claim of the next one, or nil where none is due.
func (r *Reconciler) work(ctx context.Context, claim *store.Claim, p *place, more func() bool) *store.Claim {
	r.working.Store(claim.Key, true)
	defer r.working.Delete(claim.Key)
	w := r.newWork(claim)
	bare := &work{Reconciler: r, claim: claim, log: w.log} // ends the claim where w must not
	if claim.AfterAbandoned {
		outlive(w.link, time.Now().UTC())
	}
	name, route := where(w.link), w.link.Route
	suspect := r.isSuspect(claim)
	if out, result, hold := r.precaution(claim, suspect, w.log); hold {
		r.Metrics.Reconciles.WithLabelValues(route, result).Inc()
		if claim.AfterAbandoned {
			bare.link = w.link // with what it outlived: no later claim tells of the death
		}
		return bare.end(ctx, nil, out, more())
	}
	if suspect {
		defer r.isolation.suspect.Store(false)
	}
	start := time.Now()
	// Everything, the finishing included, ends before the lease does, and with the
	// session; writes end earlier still (see work.writing).
	ctx, unbind := r.Session.Bound(ctx, claim.Session)
	defer unbind()
	ctx, cancel := context.WithDeadline(ctx, claim.Until.Add(-r.leaseMargin()/2))
	defer cancel()
	w.place = p
	p.begin(ctx.Done())
	err := r.attend(ctx, w)
	if errors.Is(err, errOverdue) {
		out, result := r.overdue(ctx, claim, name, bare.log)
		r.Metrics.Reconciles.WithLabelValues(route, result).Inc()
		return bare.end(ctx, nil, out, false)
	}
	p.rise()
	if ctx.Err() != nil {
		outlive(w.link, time.Now().UTC()) // what was under way was cut off, and may take effect yet
	}
	if lostLease(err) {
		w.log.Warn("key given up", "err", err)
		r.Metrics.Reconciles.WithLabelValues(w.link.Route, "lost").Inc()
		return nil
	}
	out, result := w.outcome(ctx, err)
	r.Metrics.Reconciles.WithLabelValues(w.link.Route, result).Inc()
	r.Metrics.Duration.WithLabelValues(w.link.Route).Observe(time.Since(start).Seconds())
	if out.Kind == store.Done {
		out.After, out.Reason = w.again.after, w.again.why
	}
	return w.end(ctx, err, out, more())
}

// end finishes the claim, and returns the next one where more asks for it.
func (w *work) end(ctx context.Context, err error, out store.Outcome, more bool) *store.Claim {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handBack)
	defer cancel()
	next, err := w.finish(ctx, err, out, more)
	if err != nil {
		w.log.Warn("finishing", "err", err)
		return nil
	}
	switch {
	case out.Kind == store.Wait:
		w.OnWait(ctx, w.claim.Key.Project, out.Service)
	case out.Kind == store.Again && out.After < idlePoll:
		w.Kick()
	}
	return next
}

// finish ends the claim, of which err is what became. Where the link took in what
// another one has, broke an invariant, or is too large, that is not stored.
func (w *work) finish(ctx context.Context, err error, out store.Outcome, more bool) (next *store.Claim, _ error) {
	link, history := w.link, w.history
	if errors.As(err, new(*mapping.BrokenError)) || isTooLarge(err) {
		link = nil
	}
	for {
		if errors.Is(err, store.ErrConflict) {
			link, history = nil, nil
		}
		if more {
			next, err = w.Store.FinishAndClaim(ctx, w.claim, link, history, out, w.LeaseTTL)
		} else {
			err = w.Store.Finish(ctx, w.claim, link, history, out)
		}
		switch {
		case link == nil:
			return next, err
		case errors.Is(err, store.ErrConflict):
			out, _ = w.failed(err)
		case !isTooLarge(err):
			return next, err
		case !dropVerified(link):
			link = nil
			out, _ = w.outcome(ctx, fmt.Errorf("reconcile %s: %w", where(w.link), w.tooLarge(w.link, err)))
		}
	}
}

// guarded turns a panic into the failure of this one key: a fault that one
// issue triggers must not take the service down for all others.
func (w *work) guarded(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("panic", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("reconcile %s: panic: %v", where(w.link), p)
		}
	}()
	return w.run(ctx)
}

// where names a link for people: the issue where there is one, else the card.
func where(l *mapping.Link) string {
	if l.Issue.Number != 0 {
		return issueName(l.Issue.Repo, l.Issue.Number)
	}
	return strings.Replace(string(l.Partner()), ":", " ", 1)
}
