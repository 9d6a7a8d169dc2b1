package memstore

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/storetest"
)

func link(id mapping.LinkID, issue int64) *mapping.Link {
	return &mapping.Link{ID: id, Project: "p", Pair: mapping.Pair{Issue: mapping.IssueID{ID: issue}}}
}

func observe(t *testing.T, s *Store, l *mapping.Link) {
	t.Helper()
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Refs: l.Refs(), Create: l}}); err != nil {
		t.Fatal(err)
	}
}

func claim(t *testing.T, s *Store) *store.Claim {
	t.Helper()
	c, _, err := s.Claim(t.Context(), "p", time.Minute)
	if err != nil || c == nil {
		t.Fatalf("Claim = %v, %v", c, err)
	}
	return c
}

// A crashed replica is refused every operation. Its answered operations are kept, and its lease
// ends by time.
func TestACrashedReplicaIsRefused(t *testing.T) {
	clock := storetest.NewStillClock()
	m := New(Options{Clock: clock})
	one, two := m.Open(nil), m.Open(nil)
	observe(t, one, link("l", 1))
	c := claim(t, one)
	before := m.Content()

	one.Crash()
	ctx := context.Background()
	_, observeErr := one.Observe(ctx, "p", []store.Observation{{Create: link("late", 2)}})
	_, _, claimErr := one.Claim(ctx, "p", time.Minute)
	_, epochErr := one.Epoch(ctx)
	_, adoptErr := one.Adopt(ctx)
	_, incarnationErr := one.Incarnation(ctx)
	for name, err := range map[string]error{
		"Observe": observeErr, "Claim": claimErr, "Epoch": epochErr, "Adopt": adoptErr, "Incarnation": incarnationErr,
		"Save":   one.Save(ctx, c, c.Link),
		"Finish": one.Finish(ctx, c, nil, nil, store.Outcome{}),
		"PutDoc": one.PutDoc(ctx, "", "doc", nil),
		"Ping":   one.Ping(ctx),
		"Load":   one.Load(ctx, func(func(store.Entry, error) bool) {}, true),
	} {
		if !errors.Is(err, ErrCrashed) {
			t.Errorf("%s of a crashed replica: %v", name, err)
		}
	}
	if after := m.Content(); !bytes.Equal(before, after) {
		t.Errorf("a crashed replica changed\n%s\nto\n%s", before, after)
	}
	if err := two.Check(ctx, c); err != nil {
		t.Errorf("the lease before its end: %v", err)
	}
	clock.Advance(time.Minute)
	if again := claim(t, two); again.Abandoned != 1 || !again.AfterAbandoned {
		t.Errorf("the next claim: %+v", again)
	}
	if err := errors.Join(one.Close(), two.Close()); err != nil {
		t.Error(err)
	}
	if err := one.Ping(ctx); !errors.Is(err, ErrCrashed) {
		t.Errorf("Ping after Crash and Close: %v", err)
	}
}

// The handle that wrote lost data notices a rollback, and the others do once it has adopted.
func TestARollback(t *testing.T) {
	m := New(Options{Clock: storetest.NewStillClock()})
	writer, reader := m.Open(nil), m.Open(nil)
	observe(t, writer, link("kept", 1))
	kept := m.Snapshot()
	then := m.Content()
	observe(t, writer, link("gone", 2))
	epoch, err := reader.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	incarnation, _ := reader.Incarnation(t.Context())

	m.Restore(kept)
	if now := m.Content(); !bytes.Equal(then, now) {
		t.Errorf("restored is\n%s\nwant\n%s", now, then)
	}
	if other, _ := reader.Incarnation(t.Context()); other == incarnation {
		t.Error("the incarnation is the same")
	}
	if _, err := writer.Link(t.Context(), store.Key{Project: "p", Link: "kept"}); !errors.Is(err, store.ErrEpoch) {
		t.Errorf("the writer's Link: %v", err)
	}
	if _, err := reader.Link(t.Context(), store.Key{Project: "p", Link: "kept"}); err != nil {
		t.Errorf("the reader's Link: %v", err)
	}
	now, err := writer.Adopt(t.Context())
	if err != nil || now == epoch {
		t.Errorf("Adopt = %q, %v", now, err)
	}
	if _, err := reader.Link(t.Context(), store.Key{Project: "p", Link: "kept"}); !errors.Is(err, store.ErrEpoch) {
		t.Errorf("the reader's Link after the other's Adopt: %v", err)
	}
	if also, err := reader.Adopt(t.Context()); err != nil || also != now {
		t.Errorf("the reader adopts %q, %v, want %q", also, err, now)
	}
	if _, err := reader.Link(t.Context(), store.Key{Project: "p", Link: "gone"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Link of what is gone: %v", err)
	}
}

// A claim before a loss does not count as abandoned.
func TestALossAbandonsNothing(t *testing.T) {
	m := New(Options{Clock: storetest.NewStillClock()})
	s := m.Open(nil)
	observe(t, s, link("l", 1))
	claim(t, s)
	early := m.Snapshot()
	observe(t, s, link("other", 2))
	m.Restore(early)
	if err := s.Enqueue(t.Context(), store.Key{Project: "p", Link: "l"}, 0, false); !errors.Is(err, store.ErrEpoch) {
		t.Fatalf("Enqueue = %v", err)
	}
	if _, err := s.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.clock = storetest.Clock(func() time.Time { return storetest.NewStillClock().Now().Add(time.Hour) })
	if c := claim(t, s); c.Abandoned != 0 || c.AfterAbandoned {
		t.Errorf("the claim after a loss: %+v", c)
	}
}

// A memory made of a snapshot goes on independently of the original.
func TestASnapshotIsAMemory(t *testing.T) {
	clock := storetest.NewStillClock()
	one := New(Options{Clock: clock})
	observe(t, one.Open(nil), link("l", 1))
	two := New(Options{Clock: clock, From: one.Snapshot()})
	if one.Digest() != two.Digest() {
		t.Fatal("a copy has another digest")
	}
	s := one.Open(nil)
	if err := s.Finish(t.Context(), claim(t, s), nil, nil, store.Outcome{Kind: store.Park, Reason: "one"}); err != nil {
		t.Fatal(err)
	}
	if one.Digest() == two.Digest() {
		t.Error("the copy sees what is done to the other, or a digest nothing")
	}
	other := two.Open(nil)
	if err := other.Finish(t.Context(), claim(t, other), nil, nil, store.Outcome{Kind: store.Park, Reason: "one"}); err != nil {
		t.Fatal(err)
	}
	if one.Digest() != two.Digest() {
		t.Errorf("the same operations made\n%s\nand\n%s", one.Content(), two.Content())
	}
}

// Arguments and answers share no memory with the store.
func TestAnswersAreCopies(t *testing.T) {
	m := New(Options{Clock: storetest.NewStillClock()})
	s := m.Open(nil)
	l := link("l", 1)
	data, event := []byte("data"), []byte("event")
	o := store.Observation{Refs: l.Refs(), Create: l, Item: "issue:1", Data: data, Event: event}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{o}); err != nil {
		t.Fatal(err)
	}
	doc := []byte("doc")
	if err := s.PutDoc(t.Context(), "p", "d", doc); err != nil {
		t.Fatal(err)
	}
	c := claim(t, s)
	got, err := s.Doc(t.Context(), "p", "d")
	if err != nil {
		t.Fatal(err)
	}
	before := m.Content()
	for _, b := range [][]byte{data, event, doc, got, c.Inbox["issue:1"].Data, c.Events[0]} {
		b[0] = '!'
	}
	l.Why, c.Link.Why = "changed", "changed"
	err = s.Dump(t.Context(), func(e store.Entry) error {
		switch {
		case e.Document != nil:
			e.Document.Data[0] = '!'
		case e.Record != nil:
			e.Record.Events[0][0], e.Record.Inbox["issue:1"].Data[0] = '!', '!'
		}
		return nil
	})
	if after := m.Content(); err != nil || !bytes.Equal(before, after) {
		t.Errorf("callers changed\n%s\nto\n%s, %v", before, after, err)
	}
}

// Operations that change nothing leave the same bytes, so that a simulator sees that nothing
// happened.
func TestIdleOperationsWriteNothing(t *testing.T) {
	m := New(Options{Clock: storetest.NewStillClock()})
	s := m.Open(nil)
	observe(t, s, link("l", 1))
	c := claim(t, s)
	if err := s.Finish(t.Context(), c, nil, nil, store.Outcome{}); err != nil {
		t.Fatal(err)
	}
	before := m.Content()
	if next, _, err := s.Claim(t.Context(), "p", time.Minute); next != nil || err != nil {
		t.Errorf("Claim = %v, %v", next, err)
	}
	if err := s.Finish(t.Context(), c, nil, nil, store.Outcome{}); err != nil { // as after a lost answer
		t.Error(err)
	}
	if _, err := s.Wake(t.Context(), "p", "github", 0); err != nil {
		t.Error(err)
	}
	if _, err := s.Observe(t.Context(), "p", []store.Observation{{Link: "unknown"}}); err != nil {
		t.Error(err)
	}
	if err := errors.Join(s.Release(t.Context(), "name", "owner"), s.Ping(t.Context()), s.Repair(t.Context(), "p"), s.Scrub(t.Context())); err != nil {
		t.Error(err)
	}
	if after := m.Content(); !bytes.Equal(before, after) {
		t.Errorf("idle operations made\n%s\nof\n%s", after, before)
	}
}
