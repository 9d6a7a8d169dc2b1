package sim

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// play lets three actors take steps, and returns the journal and the digest.
func play(t *testing.T, seed uint64) (journal, digest string) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		s := NewScheduler(seed, &text)
		ctx, cancel := context.WithCancel(t.Context())
		var scheduling, acting sync.WaitGroup
		scheduling.Go(func() { s.Run(ctx) })
		for _, actor := range []string{"a", "b", "c"} {
			acting.Go(func() {
				for _, what := range []string{"one", "two", "three"} {
					s.Step(actor, what)
					time.Sleep(time.Millisecond)
				}
			})
		}
		acting.Wait()
		cancel()
		scheduling.Wait()
		if s.Steps() != 9 {
			t.Errorf("%d steps", s.Steps())
		}
		journal, digest = text.String(), s.Digest()
	})
	return journal, digest
}

func TestSchedulerRepeatsItself(t *testing.T) {
	first, digest := play(t, 7)
	if again, same := play(t, 7); again != first || same != digest {
		t.Errorf("another run of one seed:\n%s\n%s", first, again)
	}
	var orders []string
	for seed := range uint64(20) {
		_, digest := play(t, seed)
		if !slices.Contains(orders, digest) {
			orders = append(orders, digest)
		}
	}
	if len(orders) < 15 {
		t.Errorf("20 seeds play %d orders", len(orders))
	}
	for _, what := range []string{"a one", "b three", "c two"} {
		if !strings.Contains(first, what) {
			t.Errorf("no step %q:\n%s", what, first)
		}
	}
}

// TestDrawsOfOthers: an actor's draws depend on the moment, and not on earlier draws of others.
func TestDrawsOfOthers(t *testing.T) {
	const most = 1 << 62
	var alone, later int64
	synctest.Test(t, func(*testing.T) {
		s := NewScheduler(7, nil)
		alone = s.Random("a", most)
		time.Sleep(time.Second)
		later = s.Random("a", most)
	})
	synctest.Test(t, func(t *testing.T) {
		s := NewScheduler(7, nil)
		other := s.Random("b", most)
		if got := s.Random("a", most); got != alone || got == other || got == later {
			t.Errorf("a draws %d after b drew %d; alone it drew %d, and later %d", got, other, alone, later)
		}
		if again := s.Random("a", most); again == alone {
			t.Errorf("a draws %d twice", again)
		}
		time.Sleep(time.Second)
		if got := s.Random("a", most); got != later {
			t.Errorf("a draws %d, want %d", got, later)
		}
	})
}
