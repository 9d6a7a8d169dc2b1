package lease

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/store/boltstore"
)

// TestKept: a lease that ran out before it was taken again (the process was
// paused) may have been somebody else's meanwhile, though nobody holds it now.
func TestKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		l := Lease{Clock: clock.Clock{}, Store: s, Name: "poll:p", Owner: "replica-1", TTL: time.Minute}
		for _, step := range []struct {
			after time.Duration
			kept  bool
		}{{0, false}, {30 * time.Second, true}, {59 * time.Second, true}, {61 * time.Second, false}, {time.Second, true}} {
			<-time.After(step.after)
			if held, kept, err := l.Acquire(t.Context()); !held || kept != step.kept || err != nil {
				t.Errorf("after %s: held %v, kept %v, %v", step.after, held, kept, err)
			}
		}
	})
}
