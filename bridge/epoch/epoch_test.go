package epoch_test

import (
	"context"
	"testing"

	"planbridge/bridge/clock"
	"planbridge/bridge/epoch"
	"planbridge/store"
	"planbridge/store/memstore"
)

// served is a store with servers.
type served struct {
	store.Store
	running string
}

func (s *served) Incarnation(context.Context) (string, error) { return s.running, nil }

// TestIsSameStore: a restart of the servers changes the epoch, but not the store. After a rebuild
// or a loss it counts as another store.
func TestIsSameStore(t *testing.T) {
	t.Parallel()
	memory := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	s := &served{memory, "one"}
	tracker := epoch.NewTracker(s, clock.Runtime{})
	read := func() string {
		t.Helper()
		e, err := tracker.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	first := read()
	s.running = "two"
	if again := read(); again == first || !tracker.IsSameStore(first, again) {
		t.Errorf("after a restart %q is not the store of %q", again, first)
	}
	if err := epoch.Renew(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if rebuilt := read(); tracker.IsSameStore(first, rebuilt) || tracker.IsSameStore("", rebuilt) || tracker.IsSameStore("rolled back", rebuilt) {
		t.Errorf("a rebuild leaves the store of %q the same", first)
	}

	alone := epoch.NewTracker(memory, clock.Runtime{})
	before, err := alone.Read(t.Context())
	if err == nil {
		err = epoch.Renew(t.Context(), memory)
	}
	if err != nil {
		t.Fatal(err)
	}
	after, err := alone.Read(t.Context())
	if err != nil || alone.IsSameStore(before, after) || !alone.IsSameStore(after, after) {
		t.Errorf("without servers a rebuild leaves the store the same: %q, %q, %v", before, after, err)
	}
}
