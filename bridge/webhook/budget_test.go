package webhook

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestLargestIsShed: where the budget is used up, the largest body makes room, the
// oldest of several; one that is itself the largest is refused.
func TestLargestIsShed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		var ended []string
		share := func(name string, sizes ...int) *share {
			s := b.begin(func() { ended = append(ended, name) })
			for _, n := range sizes {
				if err := b.grow(t.Context(), s, n); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			return s
		}
		first, second := share("first", 20, 20), share("second", 40)
		small := share("small", 20)
		if err := b.grow(t.Context(), first, 1); !errors.Is(err, errShed) {
			t.Errorf("the largest and oldest grows: %v", err)
		}
		done := make(chan error)
		go func() { done <- b.grow(t.Context(), small, 10) }()
		synctest.Wait()
		if len(ended) != 1 || ended[0] != "first" || !isClosed(first.shed) || isClosed(second.shed) {
			t.Fatalf("shed %v", ended)
		}
		select {
		case err := <-done:
			t.Fatalf("a body grew before there was room: %v", err)
		default:
		}
		b.end(first)
		if err := <-done; err != nil || b.used != 70 || b.ending != 0 {
			t.Errorf("grown: %v, used %d, ending %d", err, b.used, b.ending)
		}
		b.end(first) // again
		b.end(second)
		b.end(small)
		if b.used != 0 || len(b.bodies) != 0 {
			t.Errorf("left: %d bytes, %d bodies", b.used, len(b.bodies))
		}
	})
}

// TestRoomIsWaitedForWithBound: a body does not wait for room beyond its deadline.
func TestRoomIsWaitedForWithBound(t *testing.T) {
	b := newBudget(10)
	large, small := b.begin(func() {}), b.begin(func() {})
	if err := b.grow(t.Context(), large, 10); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.grow(ctx, small, 1); !errors.Is(err, context.Canceled) || small.size != 0 {
		t.Errorf("grown to %d: %v", small.size, err)
	}
}
