package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// choosy is a store that refuses the links of some finishes.
type choosy struct {
	store.Store
	refuses []error // the error of each finish that carries a link
	stored  *mapping.Link
	history []mapping.Entry
	out     store.Outcome
}

func (s *choosy) Finish(ctx context.Context, c *store.Claim, l *mapping.Link, h []mapping.Entry, out store.Outcome) error {
	if l != nil && len(s.refuses) > 0 {
		err := s.refuses[0]
		s.refuses = s.refuses[1:]
		return err
	}
	s.stored, s.history, s.out = l, h, out
	return s.Store.Finish(ctx, c, l, h, out)
}

// claimOne makes one key due and claims it.
func claimOne(t *testing.T, s store.Store) *store.Claim {
	t.Helper()
	observe(t, s, "p", 1, 0)
	claim, _, err := s.Claim(t.Context(), "p", time.Minute)
	if err != nil || claim == nil {
		t.Fatalf("no claim: %v", err)
	}
	return claim
}

// TestWhatTheStoreDoesNotTake: the store refuses a link whose item another link holds, or that is
// too large. The key then comes to rest as the core says.
func TestWhatTheStoreDoesNotTake(t *testing.T) {
	tooLarge := &store.SizeError{}
	for name, tt := range map[string]struct {
		refuses []error
		smaller bool
		link    bool
		history int
		want    store.OutcomeKind
	}{
		"it takes all":             {nil, false, true, 1, store.Done},
		"another link has an item": {[]error{store.ErrConflict}, false, false, 0, store.Retry},
		"it is too large":          {[]error{tooLarge}, false, false, 1, store.Retry},
		"a smaller one will do":    {[]error{tooLarge}, true, true, 1, store.Done},
		"the lease was lost":       {[]error{store.ErrLeaseLost}, false, false, 0, store.Done},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &choosy{Store: newStore(), refuses: tt.refuses}
			c := core{
				work: func(_ context.Context, c *store.Claim, _ Lease) reconcile.Result {
					return reconcile.Result{Link: c.Link, History: []mapping.Entry{{What: "seen"}}}
				},
				refused: func(_ *mapping.Link, err error) *reconcile.Rest {
					if tt.smaller {
						return nil
					}
					return &reconcile.Rest{Kind: reconcile.RestFailed, Err: err}
				},
			}
			newEngine(s, c, "p").Work(t.Context(), claimOne(t, s))
			if (s.stored != nil) != tt.link || len(s.history) != tt.history || s.out.Kind != tt.want {
				t.Errorf("%s: link %v, %d lines, %+v", name, s.stored, len(s.history), s.out)
			}
		})
	}
}

// TestALinkRemembersBeingPutOff: the link stores how often in a row its key was put off, and
// forgets it when the sides agree.
func TestALinkRemembersBeingPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &choosy{Store: newStore()}
		rest := reconcile.Rest{Kind: reconcile.RestPutOff, Err: errors.New("not yet")}
		e := newEngine(s, core{work: func(_ context.Context, c *store.Claim, _ Lease) reconcile.Result {
			return reconcile.Result{Link: c.Link, Rest: rest}
		}}, "p")
		e.Work(t.Context(), claimOne(t, s))
		for n := 1; n <= 3; n++ {
			if s.stored.Deferred.Count != n {
				t.Errorf("after %d times the link remembers %+v", n, s.stored.Deferred)
			}
			if n == 3 {
				rest = reconcile.Rest{}
			}
			claim, _, err := s.Claim(t.Context(), "p", time.Minute)
			if err != nil || claim == nil {
				t.Fatalf("no claim: %v", err)
			}
			e.Work(t.Context(), claim)
		}
		if s.stored.Deferred != (mapping.Deferred{}) || s.out.Kind != store.Done {
			t.Errorf("once they agree the link remembers %+v", s.stored.Deferred)
		}
	})
}

// TestADeathIsNotedThoughTheKeyIsNotWorked: the next claim must know until when earlier requests
// may have been under way.
func TestADeathIsNotedThoughTheKeyIsNotWorked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &choosy{Store: newStore()}
		claim := claimOne(t, s)
		claim.Abandoned, claim.AfterAbandoned = 2, true
		newEngine(s, core{work: func(context.Context, *store.Claim, Lease) reconcile.Result {
			t.Error("the key is worked")
			return reconcile.Result{}
		}}, "p").Work(t.Context(), claim)
		if s.stored == nil || s.stored.Why != "cut off" || s.out.Kind != store.Again || s.out.After < time.Second {
			t.Errorf("stored %+v with %+v", s.stored, s.out)
		}
	})
}

// TestTheTimeOfAClaim: the core ends before the lease, and a write well before that. A write that
// would come too late does not begin.
func TestTheTimeOfAClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		newEngine(s, core{work: func(ctx context.Context, c *store.Claim, l Lease) reconcile.Result {
			end, _ := ctx.Deadline()
			write, cancel, err := l.Writing(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer cancel()
			writeEnd, _ := write.Deadline()
			if !writeEnd.Before(end) || !end.Before(c.Until) || c.Until.Sub(writeEnd) != LeaseMargin(time.Minute) {
				t.Errorf("a write ends at %v, the work at %v, the lease at %v", writeEnd, end, c.Until)
			}
			time.Sleep(time.Until(c.Until) - 9*time.Second)
			if _, _, err := l.Writing(ctx); !errors.Is(err, errNearlyOver) {
				t.Errorf("a write begins 9 s before the lease ends: %v", err)
			}
			return reconcile.Result{Link: c.Link}
		}}, "p").Work(t.Context(), claimOne(t, s))
	})
}
