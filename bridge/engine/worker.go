package engine

import (
	"context"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	"planbridge/bridge/guard"
	"planbridge/store"
)

// A worker takes at most rowMost keys of one project in a row while other projects have keys.
// Slow services make many keys take long, so the row also ends with the first key after rowTime.
// It ends at once for a project that has a due key and none under way.
const (
	rowMost = 16
	rowTime = 250 * time.Millisecond
)

// Run works the queues of all projects in turn until ctx ends. Then it waits until each key in
// hand is finished or handed back. drain bounds how long work goes on after ctx ended.
func (e *Engine) Run(ctx context.Context, drain time.Duration) {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var inHand sync.WaitGroup
	defer inHand.Wait()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(drain, stop) })()

	l := newLimiter(max(1, e.Concurrency), e.StoreWorkers)
	for next := 0; ; next++ {
		select {
		case l.workers <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil { // select takes any of two ready cases
			return
		}
		claim, wait := e.claimNext(ctx, next)
		if claim == nil {
			<-l.workers
			if !e.pause(ctx, wait) {
				return
			}
			continue
		}
		e.Guard.Spawn(&inHand, "worker", func() {
			s := &slot{limiter: l, project: claim.Key.Project}
			defer s.releaseWorker()
			e.serve(ctx, work, claim, s)
		})
	}
}

// serve works a key and then each next one. It stops when nothing is due, ctx ends, other
// projects have their turn, or a key gave the worker away.
func (e *Engine) serve(ctx, work context.Context, claim *store.Claim, s *slot) {
	defer e.turns.begin(claim.Key.Project)()
	project, end := claim.Key.Project, e.Clock.Now().Add(rowTime)
	for row := 1; claim != nil; row++ {
		claim = e.guardedWork(work, claim, s, func() bool {
			projects := e.Host.Projects()
			return ctx.Err() == nil && e.Session.Alive() && !s.workerless && slices.Contains(projects, project) && (row < rowMost && e.Clock.Now().Before(end) && !e.turns.yields(e.Clock.Now()) || len(projects) == 1)
		})
	}
}

// guardedWork is work with a guard: a panic outside the core costs one claim. The claim is
// abandoned, and the store counts that.
func (e *Engine) guardedWork(ctx context.Context, claim *store.Claim, s *slot, more func() bool) (next *store.Claim) {
	key := claim.Key.String()
	_ = e.Guard.Do("key", key, func() error {
		pprof.Do(ctx, pprof.Labels("key", key), func(ctx context.Context) { next = e.work(ctx, claim, s, more) })
		return nil
	}) // the guard logged the error
	return next
}

// claimNext asks the projects for a key: first those for which a row ended, then the others in
// turn from the given index. A busy project therefore does not starve the others.
func (e *Engine) claimNext(ctx context.Context, from int) (*store.Claim, time.Duration) {
	projects, wait := e.Host.Projects(), idlePoll
	if !e.Session.Alive() {
		return nil, wait
	}
	for _, project := range e.turns.order(projects, from) {
		var claim *store.Claim
		var next time.Duration
		err := e.Guard.Do("claim in", string(project), func() (err error) {
			claim, next, err = e.Store.Claim(ctx, project, e.LeaseTTL)
			return err
		})
		e.turns.expect(project, dueAt(claim, next, e.Clock.Now()))
		switch {
		case err != nil && ctx.Err() == nil && !guard.Panicked(err):
			e.Logger.Warn("claiming from the queue", "project", project, "err", err)
		case claim != nil:
			return claim, 0
		case next > 0:
			wait = min(wait, next)
		}
	}
	return nil, wait
}

// dueAt returns when the next key of a project is due after a claim, or zero where that is
// unknown.
func dueAt(claim *store.Claim, next time.Duration, now time.Time) (at time.Time) {
	if claim == nil && next > 0 {
		at = now.Add(next)
	}
	return at
}

func (e *Engine) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-e.kick:
	}
	return true
}
