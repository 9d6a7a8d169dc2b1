package epoch_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/epoch"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

// counted counts the documents read.
type counted struct {
	store.Store
	reads int
}

func (c *counted) Doc(ctx context.Context, project mapping.ObjectID, name string) ([]byte, error) {
	c.reads++
	return c.Store.Doc(ctx, project, name)
}

// TestRetired: Check of a retired store fails, and so does Read after it. Read alone does not
// look for a retirement. A copy is not retired.
func TestRetired(t *testing.T) {
	s := &counted{Store: memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)}
	tracker := epoch.NewTracker(s, clock.Runtime{})
	if _, err := tracker.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := epoch.Retire(t.Context(), s, "the copy", time.Now()); err != nil {
		t.Fatal(err)
	}
	s.reads = 0
	if _, err := tracker.Read(t.Context()); err != nil || s.reads != 1 {
		t.Errorf("reading the epoch reads %d documents, %v; want that of the rebuild alone", s.reads, err)
	}
	if _, err := tracker.Check(t.Context()); !errors.Is(err, epoch.ErrRetired) {
		t.Errorf("Check: %v", err)
	}
	if _, err := tracker.Read(t.Context()); !errors.Is(err, epoch.ErrRetired) {
		t.Errorf("Read: %v", err)
	}
	var all []store.Entry
	if err := s.Dump(t.Context(), func(e store.Entry) error { all = append(all, e); return nil }); err != nil {
		t.Fatal(err)
	}
	copied := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	err := copied.Load(t.Context(), func(yield func(store.Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := epoch.Check(t.Context(), copied); err != nil {
		t.Errorf("the copy: %v", err)
	}
}
