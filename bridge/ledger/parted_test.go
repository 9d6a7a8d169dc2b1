package ledger_test

import (
	"errors"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/ledger"
	"planbridge/bridge/links"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// queue is one that nobody works.
type queue struct{}

func (queue) Kick() {}

// TestConflictOfAPartedPair: nothing of it can be undone or answered, and who asks is told so.
func TestConflictOfAPartedPair(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	parted := &mapping.Link{ID: "l1", Project: "p", Route: "web", Parted: true, Pair: mapping.Pair{State: mapping.Dormant, Card: mapping.CardID{ID: "card"}}}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Create: parted}}); err != nil {
		t.Fatal(err)
	}
	for id, state := range map[string]string{"settled": mapping.ConflictSettled, "asked": mapping.ConflictOpen} {
		if err := s.PutConflict(t.Context(), mapping.Conflict{ID: id, Project: "p", Link: "l1", Attribute: mapping.Title, State: state, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	set := &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{{Name: "web", Project: "p"}})}
	l := ledger.New(ledger.Options{Store: s, Settings: set, Holder: links.Holder{Store: s, Clock: clock.Runtime{}}, Queue: queue{}, Questions: ledger.NewQuestions(s, clock.Runtime{}), Clock: clock.Runtime{}})
	undone, answered := l.UndoConflict(t.Context(), "settled"), l.ResolveConflict(t.Context(), "asked", mapping.GitHub)
	if !errors.Is(undone, status.ErrState) || !errors.Is(answered, status.ErrState) {
		t.Errorf("undo: %v; answer: %v", undone, answered)
	}
	got, err := s.Link(t.Context(), store.Key{Project: "p", Link: "l1"})
	if err != nil || len(got.Undo) > 0 {
		t.Errorf("to be undone: %v, %v", got.Undo, err)
	}
	if c, err := s.Conflict(t.Context(), "p", "asked"); err != nil || c.State != mapping.ConflictOpen {
		t.Errorf("the question is %s, %v", c.State, err)
	}
}
