package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/mapping"
)

// Those who come while others are still to come are acted for at once, so many at
// most, however slowly they come, and each gets its own outcome.
func TestGathering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type member struct{ in, out int }
		var groups []int
		var mu sync.Mutex
		more := true
		g := gathering[string, member]{
			act: func(_ context.Context, _ string, ms []*member) {
				mu.Lock()
				defer mu.Unlock()
				groups = append(groups, len(ms))
				for _, m := range ms {
					m.out = m.in * 2
				}
			},
			more: func(context.Context, string) bool { mu.Lock(); defer mu.Unlock(); return more },
		}
		const each, lease = 200 * time.Millisecond, time.Minute
		began := time.Now()
		var all sync.WaitGroup
		for i := range 250 {
			all.Go(func() {
				<-time.After(time.Duration(i) * each)
				ctx, cancel := context.WithTimeout(t.Context(), lease)
				defer cancel()
				m := &member{in: i}
				if err := g.join(ctx, "a", m, 100); err != nil || m.out != 2*i {
					t.Errorf("%d: %+v %v", i, m, err)
				}
			})
		}
		all.Wait()
		if fmt.Sprint(groups) != "[100 100 50]" {
			t.Errorf("groups %v", groups)
		}
		// While more may come the last ones wait, but not for ever.
		if took := time.Since(began); took != 200*each+lease*2/3 {
			t.Errorf("it took %v", took)
		}
		mu.Lock()
		more = false
		mu.Unlock()
		began = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), lease)
		defer cancel()
		if err := g.join(ctx, "a", &member{}, 100); err != nil || time.Since(began) != gatherLinger {
			t.Errorf("a single one: %v after %v", err, time.Since(began))
		}
	})
}

// Whose time is over before it began was not taken; afterwards nobody knows.
func TestGatheringLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var acted atomic.Int64
		g := gathering[string, int]{
			act:  func(_ context.Context, _ string, ms []*int) { <-time.After(time.Second); acted.Add(int64(len(ms))) },
			more: func(context.Context, string) bool { return false },
		}
		lease, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		short, leave := context.WithCancel(lease)
		time.AfterFunc(gatherLinger/2, leave)
		var one, two int
		var all sync.WaitGroup
		all.Go(func() {
			if err := g.join(short, "a", &one, 10); !errors.Is(err, errNotTaken) {
				t.Errorf("left while others came: %v", err)
			}
		})
		all.Go(func() {
			longer, cancel := context.WithTimeout(t.Context(), gatherLinger+time.Second/2)
			defer cancel()
			if err := g.join(longer, "a", &two, 10); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errNotTaken) {
				t.Errorf("left while it was done: %v", err)
			}
		})
		all.Wait()
		<-time.After(time.Minute)
		if n := acted.Load(); n != 1 {
			t.Errorf("acted for %d", n)
		}
	})
}

// A panic is the failure of those whom it was for.
func TestGatheringPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gathering[string, int]{
			act:  func(context.Context, string, []*int) { panic("odd text") },
			more: func(context.Context, string) bool { return false },
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := g.join(ctx, "a", new(int), 10); err == nil || err.Error() != "batch a: panic: odd text" {
			t.Errorf("after a panic: %v", err)
		}
	})
}

// The answer to a batch is dealt by markers, whatever its order.
func TestDeal(t *testing.T) {
	keys := mapping.NewKeys([]byte("0123456789abcdef0123456789abcdef"))
	card := func(id mapping.ObjectID, link mapping.LinkID) mapping.Card {
		m := mapping.Marker{Kind: mapping.MarkCard, Link: link, Nonce: "n", Partner: "1"}
		return mapping.Card{ID: id, Summary: mapping.Versioned{Value: keys.AppendFooter("text", m, "acme/web", 1, "https://github.com/acme/web/issues/1")}}
	}
	for name, tt := range map[string]struct {
		cards []mapping.Card
		err   error
		want  string
		is    error // of those without a card
	}{
		"in another order": {[]mapping.Card{card("c2", "l2"), card("c1", "l1")}, nil, "c1 c2", nil},
		"a part":           {[]mapping.Card{card("c2", "l2")}, fmt.Errorf("cut: %w", mapping.ErrUncertain), " c2", mapping.ErrUncertain},
		"a stranger":       {[]mapping.Card{card("c9", "l9"), {ID: "c8"}, card("c1", "l1")}, nil, "c1 ", mapping.ErrUncertain},
		"refused":          {nil, &mapping.Rejection{Words: "no"}, " ", errRefusedBatch},
		"away":             {nil, mapping.ErrUnavailable, " ", mapping.ErrUnavailable},
	} {
		members := []*batched{{link: "l1", keys: keys}, {link: "l2", keys: keys}}
		deal(members, tt.cards, tt.err)
		if got := fmt.Sprintf("%s %s", members[0].card.ID, members[1].card.ID); got != tt.want {
			t.Errorf("%s: cards %q, want %q", name, got, tt.want)
		}
		for _, m := range members {
			if m.card.ID == "" && !errors.Is(m.err, tt.is) || m.card.ID != "" && m.err != nil {
				t.Errorf("%s: %+v", name, m.err)
			}
			if errors.Is(m.err, errRefusedBatch) && certain(m.err) {
				t.Errorf("%s: a refused batch is taken for certain", name)
			}
		}
	}
}
