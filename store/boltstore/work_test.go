package boltstore

import (
	"fmt"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/storetest"
)

// The queue's counter, which bounds it, equals the number of its keys, whatever happened to them.
func TestTheCounterAgreesWithTheQueue(t *testing.T) {
	clock := storetest.NewStillClock()
	s := open(t, t.TempDir()+"/planbridge.db", Options{Clock: clock})
	var obs []store.Observation
	for i := range 12 {
		l := &mapping.Link{ID: mapping.LinkID(fmt.Sprint("l", i)), Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: int64(i + 1)}}}
		obs = append(obs, store.Observation{Refs: l.Refs(), Create: l, Bulk: i%2 == 0})
	}
	if _, err := s.Observe(t.Context(), "p", obs); err != nil {
		t.Fatal(err)
	}
	kinds := []store.OutcomeKind{store.Done, store.Retry, store.Again, store.Wait, store.Park, store.Remove}
	for i := range 2 * len(kinds) {
		c, _, err := s.Claim(t.Context(), "p", 1)
		if err != nil || c == nil {
			t.Fatalf("Claim = %v, %v", c, err)
		}
		err = s.Finish(t.Context(), c, nil, nil, store.Outcome{Kind: kinds[i%len(kinds)], After: 1000, Service: "github"})
		if err != nil {
			t.Fatal(err)
		}
		err = s.read(t.Context(), "p", func(sp space) error {
			listed := sp.b("queue").Stats().KeyN + sp.b("waiting").Stats().KeyN
			if sp.queued() != listed {
				t.Errorf("after outcome %d: counted %d, listed %d", kinds[i%len(kinds)], sp.queued(), listed)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
