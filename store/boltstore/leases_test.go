package boltstore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/storetest"
)

// leasedIn makes a store with three links of a project. The first is leased, the second is due in
// an hour, and the third was leased until a minute ago.
func leasedIn(t *testing.T, path string, clock *storetest.StillClock) (s *Store, claims []*store.Claim) {
	t.Helper()
	s = open(t, path, Options{Clock: clock})
	for i := range 3 {
		l := &mapping.Link{ID: mapping.LinkID(rune('a' + i)), Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: int64(i + 1)}}}
		if _, err := s.Observe(t.Context(), "p", []store.Observation{{Refs: l.Refs(), Create: l}}); err != nil {
			t.Fatal(err)
		}
		c, err := s.ClaimKey(t.Context(), store.Key{Project: "p", Link: l.ID}, []time.Duration{time.Hour, time.Hour, time.Minute}[i])
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, c)
	}
	if err := s.Finish(t.Context(), claims[1], nil, nil, store.Outcome{Kind: store.Again, After: time.Hour}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2 * time.Minute)
	return s, claims
}

// Opening a file ends its leases and changes nothing else.
func TestOpenEndsLeases(t *testing.T) {
	path, clock := filepath.Join(t.TempDir(), "planbridge.db"), storetest.NewStillClock()
	old, claims := leasedIn(t, path, clock)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{Clock: clock})
	if err := s.Check(t.Context(), claims[0]); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("Check of a claim of before = %v", err)
	}
	for _, want := range []mapping.LinkID{"c", "a"} { // in the order in which they became due
		c, _, err := s.Claim(t.Context(), "p", time.Minute)
		if err != nil || c == nil || c.Key.Link != want || !c.AfterAbandoned {
			t.Errorf("Claim = %+v, %v, want one of %s", c, err, want)
		}
	}
	if c, wait, err := s.Claim(t.Context(), "p", time.Minute); c != nil || err != nil || wait != time.Minute {
		t.Errorf("Claim = %+v, %v, %v, want none within a minute", c, wait, err)
	}
	if d, err := s.Depth(t.Context(), "p"); err != nil || d.Live != 3 {
		t.Errorf("Depth = %+v, %v", d, err)
	}
}

// A process that adopts a file in place of its own is alive, and the leases in that file may be
// its own.
func TestAdoptKeepsLeases(t *testing.T) {
	path, clock := filepath.Join(t.TempDir(), "planbridge.db"), storetest.NewStillClock()
	s, claims := leasedIn(t, path, clock)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(path), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, store.ErrEpoch) {
		t.Fatalf("Ping = %v", err)
	}
	if _, err := s.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context(), claims[0]); err != nil {
		t.Errorf("Check of a claim of before = %v", err)
	}
}
