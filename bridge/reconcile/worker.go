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
		inHand.Go(func() {
			p := &place{seats: s}
			defer p.drop()
			r.serve(ctx, work, claim, p)
		})
	}
}

// InHand is how many keys this process works at the moment; those that wait for
// a later look are none of them. It is safe for concurrent use.
func (r *Reconciler) InHand() int { return int(r.inHand.Load()) }

// serve works a key, and then what ending one hands on: until nothing is due,
// ctx ends, the other projects have their turn, or a key gave the hand away.
func (r *Reconciler) serve(ctx, work context.Context, claim *store.Claim, p *place) {
	r.inHand.Add(1)
	defer r.inHand.Add(-1)
	project, end := claim.Key.Project, time.Now().Add(rowTime)
	for row := 1; claim != nil; row++ {
		claim = r.work(work, claim, p, func() bool {
			projects := r.Projects()
			return ctx.Err() == nil && !p.handless && slices.Contains(projects, project) && (row < rowMost && time.Now().Before(end) || len(projects) == 1)
		})
	}
}

// claimNext asks the projects in turn, beginning with the given one, so that a
// busy project does not starve the others.
func (r *Reconciler) claimNext(ctx context.Context, from int) (*store.Claim, time.Duration) {
	projects, wait := r.Projects(), idlePoll
	for i := range projects {
		project := projects[(from+i)%len(projects)]
		claim, next, err := r.Store.Claim(ctx, project, r.LeaseTTL)
		switch {
		case err != nil && ctx.Err() == nil:
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
func (r *Reconciler) work(ctx context.Context, claim *store.Claim, p *place, more func() bool) (next *store.Claim) {
	start := time.Now()
	w := r.newWork(claim)
	w.place = p
	// Everything, the finishing included, ends before the lease does; writes
	// end earlier still (see work.writing).
	ctx, cancel := context.WithDeadline(ctx, claim.Until)
	defer cancel()
	err := w.guarded(ctx)
	w.place.rise()
	if errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrEpoch) {
		w.log.Warn("key given up", "err", err)
		r.Metrics.Reconciles.WithLabelValues(w.link.Route, "lost").Inc()
		return nil
	}
	out, result := w.outcome(ctx, err)
	r.Metrics.Reconciles.WithLabelValues(w.link.Route, result).Inc()
	r.Metrics.Duration.WithLabelValues(w.link.Route).Observe(time.Since(start).Seconds())
	fin, cancelFin := context.WithTimeout(context.WithoutCancel(ctx), handBack)
	defer cancelFin()
	if out.Kind == store.Done {
		out.After = w.after
	}
	next, err = w.finish(fin, err, out, more())
	if err != nil {
		w.log.Warn("finishing", "err", err)
		return nil
	}
	switch {
	case out.Kind == store.Wait:
		r.OnWait(fin, claim.Key.Project, out.Service)
	case out.Kind == store.Again && out.After < idlePoll:
		r.Kick()
	}
	return next
}

// finish ends the claim, of which err is what became. Where the link took in what
// another one has, that is not stored.
func (w *work) finish(ctx context.Context, err error, out store.Outcome, more bool) (next *store.Claim, _ error) {
	link, history := w.link, w.history
	for {
		if errors.Is(err, store.ErrConflict) {
			link, history = nil, nil
		}
		if more {
			next, err = w.Store.FinishAndClaim(ctx, w.claim, link, history, out, w.LeaseTTL)
		} else {
			err = w.Store.Finish(ctx, w.claim, link, history, out)
		}
		if link == nil || !errors.Is(err, store.ErrConflict) {
			return next, err
		}
		out, _ = w.failed(err)
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
