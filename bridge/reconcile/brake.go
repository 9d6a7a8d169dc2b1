package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"planbridge/mapping"
)

// A brake bounds how much of one kind a route does in a minute, all replicas
// together, so that a fault on either side does not flood the other before
// somebody looks. What is over waits, and says so.

// maxWritesPerMinute bounds the rounds of writes that one link may take in a
// minute. People do not edit one item that often; two programs that answer each
// other do.
const maxWritesPerMinute = 30

// errRunaway parks a link that is written over and over.
var errRunaway = errors.New("written more often than people edit: two programs may be answering each other")

// brake takes one act of a kind from the route's allowance.
func (w *work) brake(ctx context.Context, kind string, perMinute int) error {
	if perMinute <= 0 {
		return nil
	}
	wait, err := w.Store.Budget(ctx, "brake:"+kind+":"+w.link.Route, perMinute, perMinute*60, perMinute)
	if err != nil {
		return fmt.Errorf("brake on %s: %w", kind, err)
	}
	if wait > 0 {
		if !slices.Contains(w.braked, kind) { // a later round asks again
			w.braked = append(w.braked, kind)
			w.Metrics.Braked.WithLabelValues(w.link.Route, kind).Inc()
			w.log.Warn("braked", "kind", kind, "per_minute", perMinute, "wait", wait.String())
		}
		return later(wait+w.jitter(time.Second), "the route's brake on %s holds", kind)
	}
	return nil
}

// brakeCreate is the brake on making items. What an import makes was asked for
// by an operator and is no flood: its cards go in batches, one at a time, and
// its issues are bounded by a share of GitHub's write budget that leaves the
// rest to live changes.
func (w *work) brakeCreate(ctx context.Context) error {
	if w.link.Import == "" {
		return w.brake(ctx, "creates", w.set.Brakes.CreatesPerMinute)
	}
	if w.link.Intent.Side == mapping.Planning {
		return nil
	}
	return w.brakeImport(ctx)
}

// brakeImport takes one write to GitHub from the share of imports. Thousands of
// keys may wait for it, and each comes back at a turn of its own.
func (w *work) brakeImport(ctx context.Context) error {
	perMinute, perHour := w.set.Brakes.ImportsPerMinute, w.set.Brakes.ImportsPerHour
	if perMinute <= 0 {
		return nil
	}
	wait, err := w.Store.Budget(ctx, "import:github", perMinute, perHour, importBurst)
	if err != nil {
		return fmt.Errorf("budget of imports: %w", err)
	}
	if wait > 0 {
		each := max(time.Minute/time.Duration(perMinute), time.Hour/time.Duration(max(perHour, 1)))
		return later(w.turnIn(wait, each), "the import's share of GitHub's write budget is spent for now")
	}
	return nil
}

// turnMost bounds how long a key waits before it asks again: the budget may be
// raised meanwhile.
const turnMost = time.Hour

// turnIn is how long a key is put off that found the share spent for wait. There
// are four turns for each write that there will be, as some keys come twice, some
// need none when they come, and other replicas give turns too.
func (r *Reconciler) turnIn(wait, each time.Duration) time.Duration {
	r.turnMu.Lock()
	defer r.turnMu.Unlock()
	now := time.Now()
	turn := now.Add(wait)
	if r.nextTurn.After(turn) {
		turn = r.nextTurn
	}
	if turn.Sub(now) > turnMost {
		return turnMost - r.jitter(turnMost/2)
	}
	r.nextTurn = turn.Add(each / 4)
	return turn.Sub(now)
}

// importBurst is how many writes of imports may go to GitHub back to back.
const importBurst = 5

// brakeCloses is the brake on plans that close the issue.
func (w *work) brakeCloses(ctx context.Context, plan mapping.Plan) error {
	for _, d := range plan.Decisions {
		if d.Attribute == mapping.State && d.GitHub != nil && d.GitHub.To == mapping.StateDone {
			return w.brake(ctx, "closes", w.set.Brakes.ClosesPerMinute)
		}
	}
	return nil
}

// pace counts a round of writes to this link and stops a runaway.
func (w *work) pace() error {
	now := time.Now().UTC().Truncate(time.Minute)
	p := &w.link.Pace
	if !p.Minute.Equal(now) {
		*p = mapping.Pace{Minute: now}
	}
	if p.Writes++; p.Writes > maxWritesPerMinute {
		*p = mapping.Pace{} // an operator who retries it begins anew
		return errRunaway
	}
	return nil
}
