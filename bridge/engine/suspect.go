package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/store"
)

// A key can end the process that works it, or keep it busy for ever. Three rules bound the harm
// to other keys:
//
//   - The store counts the abandoned claims of a key. Two of them make the key a suspect. Its
//     attempts are then spaced like failures, and retry.max_attempts of them park the key. One
//     abandoned claim makes no suspect, as most processes end for other reasons. Such a key goes
//     on at once.
//   - A process works one suspect at a time. A key that was in hand by chance when a process
//     ended therefore succeeds soon. A success resets the count.
//   - Work ends with its lease. Go cannot end a goroutine. A worker whose core ignores the end
//     gives the key up, and the goroutine can write nothing more.

// errOverdue is the error of a core that still works after its lease ended.
var errOverdue = errors.New("the work did not end with its lease: it takes too much processor time, or waits without bound")

// precaution returns the outcome of a claim that must not be worked now. A suspect that may be
// worked holds isolation.suspect from then on.
func (e *Engine) precaution(claim *store.Claim, suspect bool) (v verdict, hold bool) {
	if since, ok := e.isolation.underWay.Load(claim.Key); ok {
		return giveUp(fmt.Sprintf("worked since %s without an end, which takes this process's processor time: it is looked at again after a change or a retry", since.(time.Time).UTC().Format(time.TimeOnly))), true
	}
	if !suspect {
		return v, false
	}
	n, s := claim.Abandoned, decisionInput{retry: e.Host.Retry(), random: e.Clock.Int64N}
	why := fmt.Sprintf("the process ended %s while this was worked (or could not keep its lease)", howOften(n))
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

// giveUp parks a key without spending an attempt.
func giveUp(why string) verdict {
	v := verdict{Outcome: store.Outcome{Kind: store.Park, Reason: why, Unspent: true}, result: "parked"}
	return v.logs(slog.LevelError, "parked", "err", why)
}

// isSuspect reports whether a key may end the process. Where few attempts park a key, one
// abandoned claim is enough, which spares the keys in hand by chance.
func (e *Engine) isSuspect(claim *store.Claim) bool {
	return claim.Abandoned > 1 || claim.Abandoned == 1 && e.Host.Retry().MaxAttempts < fewAttempts
}

// fewAttempts is the number of attempts below which one abandoned claim makes a suspect.
const fewAttempts = 4

// suspectWait is how long a suspect is put off while another one is worked.
const suspectWait = time.Second

func howOften(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprint(n, " times")
}

// runCore lets the core work a key and waits for its end. It gives up with errOverdue where the
// core ignores the end of ctx. Claim and link then belong to the core alone.
func (e *Engine) runCore(ctx context.Context, claim *store.Claim, s *slot) (reconcile.Result, error) {
	done := make(chan reconcile.Result, 1)
	e.isolation.underWay.Store(claim.Key, e.Clock.Now())
	e.Guard.Spawn(nil, "work", func() {
		defer close(done) // no result where the goroutine was ended
		done <- func() reconcile.Result {
			// Delete first: once the result is sent, the key may be claimed again.
			defer e.isolation.underWay.Delete(claim.Key)
			return e.Core.Work(ctx, claim, &keyLease{s, e, claim})
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
			s.abandon()
			return reconcile.Result{}, errOverdue
		}
	}
}

// overdue returns the outcome of a key that was given up.
func (e *Engine) overdue(ctx context.Context, claim *store.Claim) verdict {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		v := verdict{Outcome: store.Outcome{Kind: store.Again, Reason: "handed back"}, result: "again"}
		return v.logs(slog.LevelError, "handed back while a goroutine still works it", "err", errOverdue)
	}
	s := decisionInput{attempts: claim.Attempts, retry: e.Host.Retry(), random: e.Clock.Int64N}
	return s.fail(fmt.Errorf("work %s: %w", claim.Key, errOverdue))
}
