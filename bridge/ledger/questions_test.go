package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/ledger"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store/memstore"
)

// TestQuestionsBehindOtherEntries: a question stays in sight however much the ledger takes in
// after it, and is gone at once when it is answered.
func TestQuestionsBehindOtherEntries(t *testing.T) {
	s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	born := time.Now().Add(-time.Hour)
	put := func(id, route, state string, after int) mapping.Conflict {
		c := mapping.Conflict{
			ID: id, Project: "first", Link: mapping.LinkID("link of " + id), Route: route, State: state,
			At: born.Add(time.Duration(after) * time.Second),
		}
		if err := s.PutConflict(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	old := put("old", "a", mapping.ConflictOpen, 0)
	put("other", "b", mapping.ConflictOpen, 1)
	for i := range 700 {
		put(fmt.Sprint("settled ", i), "a", mapping.ConflictSettled, 2+i)
	}
	put("new", "a", mapping.ConflictOpen, 1000)
	routes := mapping.NewRoutes([]mapping.Route{{Name: "a", Project: "first"}, {Name: "b", Project: "first"}})
	o := ledger.New(ledger.Options{Store: s, Settings: &reconcile.Settings{Routes: routes}, Questions: ledger.NewQuestions(s, clock.Runtime{})})
	want := func(link mapping.LinkID, limit int, ids string, a, b int) {
		t.Helper()
		list, counts, err := o.Questions(t.Context(), link, limit)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range list {
			got += c.ID + " "
		}
		if got != ids || counts["a"] != a || counts["b"] != b {
			t.Errorf("questions of %q: %q, counts %v; expected %q, a %d, b %d", link, got, counts, ids, a, b)
		}
	}
	want("", 10, "new other old ", 2, 1)
	want("", 2, "new other ", 2, 1)
	want("link of old", 10, "old ", 1, 0)
	old.State = mapping.ConflictAnswered
	if err := s.PutConflict(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	want("", 10, "new other ", 1, 1)
}
