package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

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
func (r *Reconciler) precaution(claim *store.Claim, suspect bool, log *slog.Logger) (out store.Outcome, result string, hold bool) {
	if since, ok := r.isolation.underWay.Load(claim.Key); ok {
		why := fmt.Sprintf("worked since %s without an end, which takes this process's processor time: it is looked at again after a change or a retry", since.(time.Time).UTC().Format(time.TimeOnly))
		log.Error("parked", "err", why)
		return store.Outcome{Kind: store.Park, Reason: why, Unspent: true}, "parked", true
	}
	if !suspect {
		return out, "", false
	}
	n, retry := claim.Abandoned, r.Settings().Retry
	why := fmt.Sprintf("the process ended %s while this was worked (or could not keep its lease)", times(n))
	switch {
	case n >= max(retry.MaxAttempts, 1):
		log.Error("parked", "abandoned", n, "err", why)
		return store.Outcome{Kind: store.Park, Reason: why, Unspent: true}, "parked", true
	case claim.AfterAbandoned:
		after := r.backOff(n, retry)
		log.Warn("to be tried again", "abandoned", n, "after", after.String(), "err", why)
		return store.Outcome{Kind: store.Again, After: after, Reason: why}, "abandoned", true
	case !r.isolation.suspect.CompareAndSwap(false, true):
		return store.Outcome{Kind: store.Again, After: suspectWait + r.jitter(suspectWait), Reason: why + "; another such key is being worked"}, "again", true
	}
	return out, "", false
}

// isSuspect reports whether a key may be what ends the process. Where few abandoned
// claims park a key the first one counts, so that those in hand by chance are spared.
func (r *Reconciler) isSuspect(claim *store.Claim) bool {
	return claim.Abandoned > 1 || claim.Abandoned == 1 && r.Settings().Retry.MaxAttempts < fewAttempts
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

// leaseMargin is kept of a lease for what follows the work.
func (r *Reconciler) leaseMargin() time.Duration { return min(writeMargin, r.LeaseTTL/6) }

// attend runs the work and waits for its end, or gives it up where it does not hear
// that ctx is over. Then errOverdue is returned, and w is the goroutine's alone.
func (r *Reconciler) attend(ctx context.Context, w *work) error {
	key := w.claim.Key
	place := w.place // it is w's own from here on
	done := make(chan error, 1)
	r.isolation.underWay.Store(key, time.Now())
	r.Guard.Spawn(nil, "work", func() {
		defer close(done) // says nothing where the goroutine was ended
		done <- func() error {
			// Before the end is told: the key may be claimed again at once.
			defer r.isolation.underWay.Delete(key)
			return w.guarded(ctx)
		}()
	})
	var grace <-chan time.Time
	for over := ctx.Done(); ; {
		select {
		case err, ok := <-done:
			if !ok {
				runtime.Goexit()
			}
			return err
		case <-over:
			timer := time.NewTimer(min(time.Second, r.leaseMargin()/4))
			defer timer.Stop()
			over, grace = nil, timer.C
		case <-grace:
			place.forsake()
			return errOverdue
		}
	}
}

// overdue is the outcome of a work that was given up.
func (r *Reconciler) overdue(ctx context.Context, claim *store.Claim, name string, log *slog.Logger) (store.Outcome, string) {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		log.Error("handed back while a goroutine still works it", "err", errOverdue)
		return store.Outcome{Kind: store.Again, Reason: "handed back"}, "again"
	}
	return r.spend(claim, log, fmt.Errorf("reconcile %s: %w", name, errOverdue))
}
