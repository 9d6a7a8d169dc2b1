package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// TestAnIssueThatIsBackBeforeItsCardWasMadeGetsOne: an item that was about to be made when the
// issue seemed to be gone is made when it is there again.
func TestAnIssueThatIsBackBeforeItsCardWasMadeGetsOne(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.openIssue("tok1", "tok2", "points/3", "points/5") // which label counts is read before the card is made
		w.hub.gone = true
		if !w.stepUntil(time.Now().Add(5*time.Minute), func() bool { n, _ := w.count(mapping.Orphaned); return n == 1 }) {
			w.fail("the issue is not believed to be gone: %+v", w.links())
		}
		if len(w.plan.cards) > 0 {
			w.fail("the card is there already: %+v", w.plan.cards)
		}
		w.hub.gone = false
		w.settle()
		if n, _ := w.count(mapping.Linked); n != 1 || len(w.plan.cards) != 1 {
			w.fail("the links are %+v, the cards %+v", w.links(), w.plan.cards)
		}
		w.verify(ends{})
	})
}

// A record that breaks an invariant parks its key: nothing is written to either side.
func TestABrokenRecordWritesNothing(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.openIssue("tok1", "tok2")
		w.settle()
		key := store.Key{Project: project, Link: w.links()[0].ID}
		claim, err := w.store.ClaimKey(context.Background(), key, time.Minute)
		w.check(err)
		claim.Link.Intent = &mapping.Intent{}
		w.check(w.store.Finish(context.Background(), claim, claim.Link, nil, store.Outcome{}))

		hub, plan := w.hub.writes, w.plan.writes
		w.hub.change(w.issue(), dev, func(i *mapping.Issue) { i.Title = "tok3" })
		if !w.stepUntil(time.Now().Add(10*time.Minute), func() bool { return len(w.failures()) == 1 }) {
			w.fail("the key is not parked: %+v", w.links())
		}
		if f := w.failures(); len(f) == 1 && !strings.Contains(f[0].Reason, "invariant partners: issue ") {
			w.fail("the key is parked because %q", f[0].Reason)
		}
		if w.hub.writes != hub || w.plan.writes != plan {
			w.fail("%d writes to GitHub, %d to planning", w.hub.writes-hub, w.plan.writes-plan)
		}
		if l := w.links()[0]; l.Base[mapping.Title].GitHub != "tok1" {
			w.fail("the record was stored: %+v", l)
		}
	})
}
