package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/store"
)

// A key can end the process that works it, or keep it busy for ever. Three rules
// bound what that costs the other keys:
//
//   - The store counts the claims of a key that nobody ended. From the second one on
//     the key is a suspect: each attempt is spaced as after a failure, and after
//     retry.max_attempts of them the key is parked. The first one makes none, since
//     processes are mostly killed for other reasons: what was in hand goes on at once.
//   - A process works one suspect at a time. Keys that were in hand by chance when a
//     process ended therefore succeed soon, and a success forgets the count.
//   - Work ends with its lease. Go cannot end a goroutine: a worker that does not
//     hear gives its key up, and the goroutine may write nothing more.

// errOverdue: the work did not end though its lease was over.
var errOverdue = errors.New("the work did not end with its lease: it takes too much processor time, or waits without bound")

// isolation is what a process knows of the keys that it should beware of.
type isolation struct {
	suspect  atomic.Bool // a suspect is being worked
	underWay sync.Map    // when goroutines began to work a key: store.Key to time.Time
}

// precaution says what becomes of a claim that is not to be worked now. A suspect that
// is to be worked has its turn from then on.
func (e *Engine) precaution(claim *store.Claim, suspect bool) (v verdict, hold bool) {
	if since, ok := e.isolation.underWay.Load(claim.Key); ok {
		return giveUp(fmt.Sprintf("worked since %s without an end, which takes this process's processor time: it is looked at again after a change or a retry", since.(time.Time).UTC().Format(time.TimeOnly))), true
	}
	if !suspect {
		return v, false
	}
	n, s := claim.Abandoned, standing{retry: e.Host.Retry(), random: e.Clock.Int64N}
	why := fmt.Sprintf("the process ended %s while this was worked (or could not keep its lease)", times(n))
	switch {
	case n >= max(s.retry.MaxAttempts, 1):
		return giveUp(why), true
	case claim.AfterAbandoned:
		after := s.backOff(n)
		v = verdict{Outcome: store.Outcome{Kind: store.Again, After: after, Reason: why}, result: "abandoned"}
		return v.logs(slog.LevelWarn, "to be tried again", "abandoned", n, "after", after.String(), "err", why), true
	case !e.isolation.suspect.CompareAndSwap(false, true):
		after := suspectWait + reconcile.Jitter(e.Clock.Int64N, suspectWait)
		return verdict{Outcome: store.Outcome{Kind: store.Again, After: after, Reason: why + "; another such key is being worked"}, result: "again"}, true
	}
	return v, false
}

// giveUp parks a key without an attempt.
func giveUp(why string) verdict {
	v := verdict{Outcome: store.Outcome{Kind: store.Park, Reason: why, Unspent: true}, result: "parked"}
	return v.logs(slog.LevelError, "parked", "err", why)
}

// isSuspect reports whether a key may be what ends the process. Where few abandoned
// claims park a key the first one counts, so that those in hand by chance are spared.
func (e *Engine) isSuspect(claim *store.Claim) bool {
	return claim.Abandoned > 1 || claim.Abandoned == 1 && e.Host.Retry().MaxAttempts < fewAttempts
}

// fewAttempts is how many attempts leave room for one that makes no suspect.
const fewAttempts = 4

// suspectWait is how long a suspect is put off while another one is worked.
const suspectWait = time.Second

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprint(n, " times")
}

// attend has the core work a key and waits for its end, or gives it up where the core does
// not hear that ctx is over. Then errOverdue is returned, and claim and link are the core's
// alone.
func (e *Engine) attend(ctx context.Context, claim *store.Claim, s *slot) (reconcile.Result, error) {
	done := make(chan reconcile.Result, 1)
	e.isolation.underWay.Store(claim.Key, e.Clock.Now())
	e.Guard.Spawn(nil, "work", func() {
		defer close(done) // says nothing where the goroutine was ended
		done <- func() reconcile.Result {
			// Before the end is told: the key may be claimed again at once.
			defer e.isolation.underWay.Delete(claim.Key)
			return e.Core.Work(ctx, claim, &lease{s, e, claim})
		}()
	})
	var grace <-chan time.Time
	for over := ctx.Done(); ; {
		select {
		case res, ok := <-done:
			if !ok {
				runtime.Goexit()
			}
			return res, nil
		case <-over:
			timer := time.NewTimer(min(time.Second, LeaseMargin(e.LeaseTTL)/4))
			defer timer.Stop()
			over, grace = nil, timer.C
		case <-grace:
			s.forsake()
			return reconcile.Result{}, errOverdue
		}
	}
}

// overdue is what becomes of a key that was given up.
func (e *Engine) overdue(ctx context.Context, claim *store.Claim) verdict {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		v := verdict{Outcome: store.Outcome{Kind: store.Again, Reason: "handed back"}, result: "again"}
		return v.logs(slog.LevelError, "handed back while a goroutine still works it", "err", errOverdue)
	}
	s := standing{attempts: claim.Attempts, retry: e.Host.Retry(), random: e.Clock.Int64N}
	return s.fail(fmt.Errorf("work %s: %w", claim.Key, errOverdue))
}
