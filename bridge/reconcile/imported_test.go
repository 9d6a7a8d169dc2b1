package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// ceaseless is a store in whose project live keys are always due once a key of an import is on its
// way to a batch. A finished key is due again.
type ceaseless struct {
	store.Store
	began func()
}

// busy are two, so that one is due while the other is worked.
var busy = []mapping.LinkID{"busy1", "busy2"}

func (s *ceaseless) Save(ctx context.Context, c *store.Claim, l *mapping.Link) error {
	err := s.Store.Save(ctx, c, l)
	if l.Intent == nil || !l.Intent.Sent || err != nil {
		return err
	}
	defer s.began()
	for _, id := range busy {
		if err := s.due(ctx, store.Observation{Create: &mapping.Link{ID: id, Project: project, Pair: mapping.Pair{State: mapping.Linked}}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *ceaseless) due(ctx context.Context, o store.Observation) error {
	_, err := s.Observe(ctx, project, []store.Observation{o})
	return err
}

func (s *ceaseless) FinishAndClaim(ctx context.Context, c *store.Claim, l *mapping.Link, h []mapping.Entry, out store.Outcome, ttl time.Duration) (*store.Claim, error) {
	if slices.Contains(busy, c.Key.Link) {
		time.Sleep(10 * time.Millisecond)
		if err := s.due(ctx, store.Observation{Link: c.Key.Link}); err != nil {
			return nil, err
		}
	}
	return s.Store.FinishAndClaim(ctx, c, l, h, out, ttl)
}

// importIssue is an issue that an import observes.
func (w *world) importIssue(title string) *mapping.Link {
	issue := w.hub.open(dev, reconcile.NewIssue{Title: title})
	link := w.route.EnterIssue(&issue.Issue, time.Now().UTC())
	link.Import = mapping.ImportOpen
	w.observe(store.Observation{Refs: []mapping.Ref{mapping.IssueRef(issue.ID)}, Bulk: true}, link)
	return link
}

// TestWhoComesBackFromABatchGoesOn: a key that has its card is worked to its end,
// however many others are due.
func TestWhoComesBackFromABatchGoesOn(t *testing.T) {
	t.Parallel()
	passes(t, func(w *world) {
		w.store, w.crowd = &ceaseless{Store: w.store, began: func() { w.engine.Kick() }}, 1
		w.restart()
		link := w.importIssue("tok1")
		began := time.Now()
		w.run(10 * time.Second)
		got, err := w.store.Link(context.Background(), store.Key{Project: project, Link: link.ID})
		w.check(err)
		if err == nil && (got.State != mapping.Linked || got.Synced.Sub(began) > 5*time.Second) {
			w.fail("the link is %s, the sides agreed after %v", got.State, got.Synced.Sub(began))
		}
		if len(w.plan.cards) != 1 {
			w.fail("%d cards", len(w.plan.cards))
		}
	})
}

// TestWaitingForAShareReadsNothing: issues whose labels wait for the import's share
// of GitHub's write budget are not read each time that they have to wait.
func TestWaitingForAShareReadsNothing(t *testing.T) {
	t.Parallel()
	const issues = 30
	passes(t, func(w *world) {
		w.limits = limits{reconcile.WriteEdit: {PerMinute: 1, PerHour: 60, Burst: 5}}
		for i := range issues {
			w.importIssue(fmt.Sprint("tok", i))
		}
		reads := 0
		w.faults.armed = true
		w.faults.draw = func(p point) fate {
			if p.name == "Issue" {
				reads++
			}
			return ""
		}
		w.settle()
		w.verifyOneEach(issues)
		for _, i := range w.hub.issues {
			if len(i.Labels) == 0 {
				w.fail("issue %d has no labels", i.Number)
			}
		}
		if reads > 2*issues { // once, and for what our own events leave open
			w.fail("%d issues were read %d times", issues, reads)
		}
	})
}
