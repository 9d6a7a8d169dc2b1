package operator_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/operator"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// TestNumbersNameNothingToChange: the number of a card names its pair for explain alone. Commands
// that part, erase or clean a pair take no number, which may be meant for an issue.
func TestNumbersNameNothingToChange(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	l := &mapping.Link{ID: "l1", Project: "p", Route: "a", Pair: mapping.Pair{
		State: mapping.Linked, Issue: mapping.IssueID{ID: 7, Repo: "acme/web", Number: 1}, Card: mapping.CardID{ID: "card", CID: 12},
		Base: map[mapping.Attribute]mapping.Base{mapping.Title: {GitHub: "A title"}},
	}}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: l}}); err != nil {
		t.Fatal(err)
	}
	o := operator.New(operator.Options{Store: s, Settings: &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "a", Project: "p"}})}})
	for _, name := range []string{"12", "#12"} {
		_, erased := o.Erase(t.Context(), status.EraseAsk{Item: name})
		_, clean := o.MayClean(t.Context(), status.CleanAsk{Item: name})
		for what, err := range map[string]error{"unlink": o.Unlink(t.Context(), name), "erase": erased, "clean": clean} {
			if !errors.Is(err, status.ErrName) {
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
		if got, err := o.FindNumbered(t.Context(), name); err != nil || got.ID != "l1" {
			t.Errorf("FindNumbered(%q) = %+v, %v", name, got, err)
		}
	}
	got, err := s.Link(t.Context(), store.Key{Project: "p", Link: "l1"})
	if err != nil || got.State != mapping.Linked || got.Parted || got.Base[mapping.Title].GitHub != "A title" {
		t.Errorf("the link is changed: %+v, %v", got, err)
	}
}

// TestFailuresOfAProjectWithoutAName: parked keys of a project that the configuration does not name
// are shown, and not retried, as nobody would work them.
func TestFailuresOfAProjectWithoutAName(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	l := &mapping.Link{ID: "l1", Project: "gone", Route: "a", Pair: mapping.Pair{State: mapping.Linked, Card: mapping.CardID{ID: "card"}}}
	if _, err := s.Observe(t.Context(), "gone", []store.Observation{{Create: l}}); err != nil {
		t.Fatal(err)
	}
	claim, _, err := s.Claim(t.Context(), "gone", time.Minute)
	if err == nil {
		err = s.Finish(t.Context(), claim, claim.Link, nil, store.Outcome{Kind: store.Park, Reason: "refused"})
	}
	if err != nil {
		t.Fatal(err)
	}
	o := operator.New(operator.Options{
		Store: s, Guard: guard.New(slog.New(slog.DiscardHandler)),
		Settings: &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "a", Project: "p"}})},
	})
	parked := func() int {
		t.Helper()
		all, err := o.Failures(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if n := parked(); n != 1 {
		t.Fatalf("%d failures are shown", n)
	}
	if n, err := o.Retry(t.Context(), "l1"); n != 0 || !errors.Is(err, status.ErrState) {
		t.Errorf("one is retried: %d, %v", n, err)
	}
	if n, err := o.Retry(t.Context(), "all"); n != 0 || err != nil || parked() != 1 {
		t.Errorf("all are retried: %d, %v; %d stay", n, err, parked())
	}
}
