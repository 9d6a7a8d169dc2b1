// Package poll looks at what nobody tells the bridge: the planning service has
// no events, and GitHub's deliveries can fail to come.
//
// Its doors are [Poller], one per planning project, and [CatchUp], one for
// GitHub. Both only observe: they make durable what they saw (store.Observe)
// and leave every decision about a link to the reconcile. Each works under a
// named lease, so that one replica polls at a time; which one does not matter.
//
// A round of the Poller reads the sprints, the items of those that still move,
// and the backlog, card by card as it streams in. A card that is as it was
// costs a map look-up and a hash, and nothing in the store. What changed is
// observed in batches, and only then marked as seen, so that a crash repeats
// and never loses.
//
// # What enters
//
// A card enters when it is first seen in a bucket of a route that makes issues,
// wherever it was before: made there, moved there later, or seen in a sprint
// first (a sprint's listing may not tell the bucket). A card that has been in
// one of the route's buckets never enters again. The first complete round that
// knows a route, or a bucket of it, only records what is there (the document
// "baseline": the buckets of each route as of the last complete round; a route
// that was taken out of the configuration and put back begins anew).
//
// # Tasks
//
// A task that a sprint's listing shows, flat or nested in its card, or that the
// sweep reads, is told to the link that has it, and one that none has to the link
// of its card, where tasks stand for something there. The sweep visits every such
// card that no sprint shows once in its interval, spread over the rounds; a round
// in which nothing moved costs two calls and one for each sprint that is read. Tasks
// that were seen before the first complete round ended are old: nobody but a link
// that has them is told.
//
// # What is missing
//
// An empty or halved listing orphans nothing: cards that disappear are only
// made due, a few per round and once each, and none when more than half is
// gone. The reconcile reads the item itself.
//
// # Adoption
//
// A new store (or one that was lost) knows no link, while the items on both
// sides still carry their markers. Until every one of them has been seen again,
// nothing may be created. For GitHub's side, CatchUp lists what the bridge's own
// account made in a repository and then puts the document "adopted:<repo>" into
// the space of no project. For planning's side, the Poller reads everything,
// old sprints included, until a reading shows all that was seen before it: a
// process that saw nothing before reads twice. It then waits for the documents of
// the repositories that its project's exact routes name (by a glob no issue is
// made). With both, it puts [store.DocAdopted]. A repository that cannot be read
// at all (renamed, mistyped, no access) does not hold up the others: no issue can
// be made there either; it is tried again at each catch-up.
package poll

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"planbridge/bridge/guard"
	"planbridge/store"
)

// every calls fn at once and then each interval, ± 10 % so that replicas and
// projects do not march in step, until ctx ends.
func every(ctx context.Context, g *guard.Guard, what string, interval time.Duration, random func(n int64) int64, fn func(context.Context)) {
	for ctx.Err() == nil {
		_ = g.Do(what, "", func() error { fn(ctx); return nil }) // a panic was logged
		timer := time.NewTimer(interval - interval/10 + time.Duration(random(int64(interval/5)+1)))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// orRuntime puts the clock and the chance of the runtime where none is given.
func orRuntime(now func() time.Time, random func(n int64) int64) (func() time.Time, func(n int64) int64) {
	if now == nil {
		now = time.Now
	}
	if random == nil {
		random = rand.Int64N
	}
	return now, random
}

// errLeaseTaken ends a round whose lease could not be kept.
var errLeaseTaken = errors.New("another replica polls")

// lease is a named lock of the store that one replica keeps from round to round.
type lease struct {
	now   func() time.Time
	store store.Leases
	name  string
	owner string
	ttl   time.Duration
	until time.Time // when it ends unless it is extended
}

// leaseTTL makes a lease outlast the pause between two rounds, so that the
// replica that polls, whose memory is warm, goes on polling.
func leaseTTL(interval time.Duration) time.Duration { return max(3*interval, 15*time.Second) }

// acquire takes or extends the lease. kept says that nobody else can have had
// it since it was last extended.
func (l *lease) acquire(ctx context.Context) (held, kept bool, err error) {
	asked := l.now()
	held, err = l.store.Acquire(ctx, l.name, l.owner, l.ttl)
	if err != nil {
		return false, false, fmt.Errorf("lease %s: %w", l.name, err)
	}
	kept = held && asked.Before(l.until)
	if held {
		l.until = asked.Add(l.ttl)
	}
	return held, kept, nil
}

// hold extends the lease while fn runs under the guard, and ends fn's context when it is lost.
func (l *lease) hold(ctx context.Context, g *guard.Guard, what, item string, fn func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	g.Spawn(nil, "lease "+l.name, func() {
		defer close(stopped)
		tick := time.NewTicker(l.ttl / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			// A store that does not answer loses the lease only when its
			// time is over.
			if held, _, err := l.acquire(ctx); err == nil && !held || l.now().After(l.until) {
				cancel(errLeaseTaken)
				return
			}
		}
	})
	err := g.Do(what, item, func() error { return fn(ctx) })
	if cause := context.Cause(ctx); errors.Is(cause, errLeaseTaken) {
		err = cause
	}
	cancel(nil)
	<-stopped
	return err
}

// release gives the lease back at the end, for another replica to go on at once.
func (l *lease) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	// Where this fails the lease just runs out.
	_ = l.store.Release(ctx, l.name, l.owner)
}
