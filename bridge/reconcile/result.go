package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// Result is what the engine finishes a claim with.
type Result struct {
	Link    *mapping.Link // nil: nothing of the link is stored
	History []mapping.Entry
	Rest    Rest
}

// Work works a claimed key to its end, within the time of the context. It finishes nothing.
func (r *Reconciler) Work(ctx context.Context, claim *store.Claim, lease Lease) Result {
	w := r.newWork(claim)
	w.lease = lease
	err := w.guarded(ctx)
	over := ctx.Err() != nil
	if over {
		r.CutOff(w.link, r.Now().UTC())
	}
	return w.result(err, over)
}

// CutOff notes that what was sent for a link may take effect until now: the process that
// sent it ended, or the time of the claim did.
func (r *Reconciler) CutOff(link *mapping.Link, now time.Time) { outlive(link, now) }

// Log returns what the lines about a claimed key are logged with.
func (r *Reconciler) Log(claim *store.Claim) *slog.Logger {
	w := &work{Reconciler: r, claim: claim, link: claim.Link}
	w.delivery = w.newestDelivery()
	return w.logger()
}

// Refused says how a key comes to rest whose result the store did not take; then nothing
// of the link is stored. nil: the link is smaller now and may be stored.
func (r *Reconciler) Refused(claim *store.Claim, link *mapping.Link, err error) *Rest {
	if isTooLarge(err) {
		if dropVerified(link) {
			return nil
		}
		err = fmt.Errorf("reconcile %s: %w", where(link), r.newWork(claim).tooLarge(link, err))
	}
	rest := restOf(err, situation{project: link.Project, down: r.Down})
	return &rest
}

// result is how the claim ends, given the error of its work. Where the link took in
// what another one has, broke an invariant, or is too large, it is not stored.
func (w *work) result(err error, over bool) Result {
	unmade := len(w.link.Refs()) == 1 && (w.link.Intent == nil || !w.link.Intent.Sent)
	res := Result{w.link, w.history, restOf(err, situation{w.link.Project, over, unmade, w.Down})}
	if res.Rest.Kind == RestAgreed {
		res.Rest.After, res.Rest.Why = w.again.after, w.again.why
	}
	switch {
	case errors.Is(err, store.ErrConflict):
		res.Link, res.History = nil, nil
	case errors.As(err, new(*mapping.BrokenError)), isTooLarge(err):
		res.Link = nil
	}
	return res
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
