package boltstore

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"planbridge/mapping"
	"planbridge/store"
)

func badLink(n int64) store.Observation {
	id := mapping.LinkID("l" + string(rune('0'+n)))
	l := &mapping.Link{ID: id, Project: "p", Pair: mapping.Pair{State: mapping.Entering, Issue: mapping.IssueID{ID: n}}}
	return store.Observation{Refs: l.Refs(), Create: l, Item: mapping.IssueRef(n), At: 1, Digest: "d", Data: []byte("data")}
}

// TestWhatCannotBeReadCostsItsKeyAlone: a missing link, a spoilt record or work, a ref without a
// link, and an operation that panics.
func TestWhatCannotBeReadCostsItsKeyAlone(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the file is thrown away
	ctx := t.Context()
	var all []store.Observation
	for n := range int64(5) {
		all = append(all, badLink(n+1))
	}
	if _, err := s.Observe(ctx, "p", all); err != nil {
		t.Fatal(err)
	}
	spoil := func(sp space) error {
		if err := sp.b("links").Delete([]byte("l1")); err != nil {
			return err
		}
		if err := sp.b("links").Put([]byte("l2"), []byte("no JSON")); err != nil {
			return err
		}
		return sp.b("work").Put([]byte("l3"), []byte{formBinary})
	}
	if err := s.in(ctx, "p", spoil); err != nil {
		t.Fatal(err)
	}
	if err := s.update(ctx, func(*bbolt.Tx) error { panic("odd") }); err == nil || !strings.Contains(err.Error(), "panic: odd") {
		t.Errorf("an operation that panics: %v", err)
	}

	again := badLink(1)
	again.Create.ID = "l9"
	got, err := s.Observe(ctx, "p", []store.Observation{again, badLink(3), badLink(4)})
	if err != nil || got[0].Err != nil || !got[0].Created || !errors.Is(got[1].Err, store.ErrSpoilt) || got[2].Err != nil {
		t.Errorf("Observe = %+v, %v", got, err)
	}
	worked := map[mapping.LinkID]bool{}
	for {
		c, _, err := s.Claim(ctx, "p", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			break
		}
		worked[c.Key.Link] = true
	}
	if len(worked) != 3 || !worked["l4"] || !worked["l5"] || !worked["l9"] {
		t.Errorf("worked were %v", worked)
	}
	fs, err := s.Failures(ctx, "p", 10)
	if err != nil || len(fs) != 3 {
		t.Fatalf("Failures = %+v, %v, want those of l1, l2 and l3", fs, err)
	}
	for _, f := range fs {
		if !strings.Contains(f.Reason, "cannot be read") {
			t.Errorf("failure %+v", f)
		}
	}
	links, _, err := s.List(ctx, "p", "", 10)
	if err != nil || len(links) != 4 {
		t.Errorf("List = %d links, %v", len(links), err)
	}
}
