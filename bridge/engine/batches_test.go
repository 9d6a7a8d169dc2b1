package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/mapping"
	"planbridge/store"
)

// awaited is a store in which further keys of an import are due while more returns true.
type awaited struct {
	store.Store
	more func() bool
}

func (s awaited) Depth(context.Context, mapping.ObjectID) (store.Depth, error) {
	if s.more() {
		return store.Depth{Due: 1}, nil
	}
	return store.Depth{}, nil
}

func never() bool { return false }

// Members that join while more keys come share acts of bounded size, however slowly they come.
// Each member gets its own result.
func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type member struct{ in, out int }
		var groups []int
		var mu sync.Mutex
		more := true
		b := newBatches(awaited{newStore(), func() bool { mu.Lock(); defer mu.Unlock(); return more }}, clock.Runtime{}, nil)
		what := Batch{Project: "p", Name: "a", Most: 100, Act: func(_ context.Context, ms []any) {
			mu.Lock()
			defer mu.Unlock()
			groups = append(groups, len(ms))
			for _, m := range ms {
				m.(*member).out = m.(*member).in * 2
			}
		}}
		const each, lease = 200 * time.Millisecond, time.Minute
		began := time.Now()
		var all sync.WaitGroup
		for i := range 250 {
			all.Go(func() {
				<-time.After(time.Duration(i) * each)
				ctx, cancel := context.WithTimeout(t.Context(), lease)
				defer cancel()
				m := &member{in: i}
				if err := b.join(ctx, what, m); err != nil || m.out != 2*i {
					t.Errorf("%d: %+v %v", i, m, err)
				}
			})
		}
		all.Wait()
		if fmt.Sprint(groups) != "[100 100 50]" {
			t.Errorf("groups %v", groups)
		}
		// While more may come, the last members wait, but not for ever.
		if took := time.Since(began); took != 200*each+lease*2/3 {
			t.Errorf("it took %v", took)
		}
		mu.Lock()
		more = false
		mu.Unlock()
		began = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), lease)
		defer cancel()
		if err := b.join(ctx, what, &member{}); err != nil || time.Since(began) != joinGrace {
			t.Errorf("a single one: %v after %v", err, time.Since(began))
		}
	})
}

// A member whose time ends before the batch begins gets ErrNotTaken; after that the progress is
// unknown.
func TestBatchLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var acted atomic.Int64
		b := newBatches(awaited{newStore(), never}, clock.Runtime{}, nil)
		what := Batch{Project: "p", Name: "a", Most: 10, Act: func(_ context.Context, ms []any) { <-time.After(time.Second); acted.Add(int64(len(ms))) }}
		lease, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		short, leave := context.WithCancel(lease)
		time.AfterFunc(joinGrace/2, leave)
		var one, two int
		var all sync.WaitGroup
		all.Go(func() {
			if err := b.join(short, what, &one); !errors.Is(err, ErrNotTaken) {
				t.Errorf("left while others came: %v", err)
			}
		})
		all.Go(func() {
			longer, cancel := context.WithTimeout(t.Context(), joinGrace+time.Second/2)
			defer cancel()
			if err := b.join(longer, what, &two); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrNotTaken) {
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

// A panic fails the members of its batch.
func TestBatchPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatches(awaited{newStore(), never}, clock.Runtime{}, nil)
		what := Batch{Project: "p", Name: "a", Act: func(context.Context, []any) { panic("odd text") }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := b.join(ctx, what, new(int)); err == nil || err.Error() != "batch p a: panic: odd text" {
			t.Errorf("after a panic: %v", err)
		}
	})
}

// Members of a brief batch wait only a moment, however fast they join and however long their
// leases are.
func TestBriefBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var groups []int
		b := newBatches(awaited{newStore(), func() bool { return true }}, clock.Runtime{}, nil)
		what := Batch{Project: "p", Name: "a", Most: 100, Brief: true, Act: func(_ context.Context, ms []any) {
			mu.Lock()
			defer mu.Unlock()
			groups = append(groups, len(ms))
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var all sync.WaitGroup
		for range 50 {
			time.Sleep(joinGrace / 2)
			all.Go(func() {
				began := time.Now()
				if err := b.join(ctx, what, new(int)); err != nil || time.Since(began) > maxBriefWait {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			})
		}
		all.Wait()
		if len(groups) < 4 || groups[0] < 10 {
			t.Errorf("groups %v", groups)
		}
	})
}

// Keys that wait for others of their import do not crowd live keys. Keys of a crowd that wait
// still count. The only key of another project is never crowded.
func TestWhatIsACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, brief := range []bool{false, true} {
			e := newEngine(awaited{newStore(), func() bool { return true }}, core{}, "p")
			l := &keyLease{slot: &slot{}, e: e, claim: &store.Claim{Key: store.Key{Project: "p"}}}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			var all sync.WaitGroup
			for range 2 * crowd {
				end := e.turns.begin("p")
				all.Go(func() {
					_ = l.Join(ctx, Batch{Project: "p", Name: "cards", Brief: brief, Act: func(context.Context, []any) {}}, new(int))
					end()
				})
			}
			synctest.Wait()
			if got := l.Crowded(); got != brief {
				t.Errorf("with %d keys in batches that are brief (%v), a key is crowded: %v", e.InHand(), brief, got)
			}
			end, only := e.turns.begin("q"), &keyLease{slot: &slot{}, e: e, claim: &store.Claim{Key: store.Key{Project: "q"}}}
			if only.Crowded() {
				t.Error("the only key of its project is crowded")
			}
			end()
			all.Wait()
			cancel()
			if l.e.batches.importWaiting.Load() != 0 {
				t.Error("a key that was done still waits")
			}
		}
	})
}
