package lease

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/store"
	"planbridge/store/boltstore"
	"planbridge/store/memstore"
)

// TestKept: after a pause of the process its lease may have expired and been another's meanwhile,
// though it is free now.
func TestKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := boltstore.Open(filepath.Join(t.TempDir(), "store.db"), boltstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		l := Lease{Clock: clock.Runtime{}, Store: s, Name: "poll:p", Owner: "replica-1", TTL: time.Minute}
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

// life is a session that a test ends.
type life struct {
	id     store.Session
	over   context.Context
	end    context.CancelCauseFunc
	fallen atomic.Pointer[chan struct{}]
}

func (l *life) begin(id store.Session) {
	l.id = id
	l.next()
	l.over, l.end = context.WithCancelCause(context.Background())
}

func (l *life) Current() (store.Session, error) { return l.id, context.Cause(l.over) }
func (l *life) Fallen() <-chan struct{}         { return *l.fallen.Load() }

// next begins to wait for the next fall, and returns the channel of the last one.
func (l *life) next() *chan struct{} {
	fallen := make(chan struct{})
	return l.fallen.Swap(&fallen)
}

func (l *life) Bound(ctx context.Context, _ store.Session) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(l.over, func() { cancel(context.Cause(l.over)) })
	return ctx, func() { cancel(nil) }
}

// TestEndsWithTheSession: work under a lease ends with the process's session, whose end is the error.
// Without a session there is no lease, and one of the next session was not kept.
func TestEndsWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var process life
		process.begin("s1")
		l := Lease{Clock: clock.Runtime{}, Store: memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil), Session: &process, Name: "catchup", Owner: "replica-1", TTL: time.Hour}
		if held, _, err := l.Acquire(t.Context()); !held || err != nil {
			t.Fatal(held, err)
		}
		ended := errors.New("the session ended")
		time.AfterFunc(time.Minute, func() { process.end(ended) })
		began := time.Now()
		err := l.Hold(t.Context(), guard.New(slog.New(slog.DiscardHandler)), "catch-up", "", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, ended) || time.Since(began) != time.Minute {
			t.Errorf("Hold = %v after %v", err, time.Since(began))
		}
		if held, kept, err := l.Acquire(t.Context()); held || kept || !errors.Is(err, ended) {
			t.Errorf("without a session: %v, %v, %v", held, kept, err)
		}
		process.begin("s2")
		for _, want := range []bool{false, true} {
			if held, kept, err := l.Acquire(t.Context()); !held || kept != want || err != nil {
				t.Errorf("held %v, kept %v, %v, want %v", held, kept, err, want)
			}
		}
	})
}

// TestFollowersGoOnAtOnce: a replica without the lease begins a round when another one's session fell;
// one that has it keeps its pauses.
func TestFollowersGoOnAtOnce(t *testing.T) {
	for _, leads := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
			if !leads {
				if held, err := s.Acquire(t.Context(), "catchup", "replica-1", time.Hour); !held || err != nil {
					t.Fatal(held, err)
				}
			}
			var process life
			process.begin("s2")
			l := Lease{Clock: clock.Runtime{}, Store: s, Session: &process, Name: "catchup", Owner: "replica-2", TTL: time.Hour}
			ctx, end := context.WithCancel(t.Context())
			var rounds atomic.Int32
			done := make(chan struct{})
			go func() {
				defer close(done)
				l.Every(ctx, guard.New(slog.New(slog.DiscardHandler)), "round", clock.Runtime{}, func() time.Duration { return 5 * time.Minute }, func(ctx context.Context) {
					rounds.Add(1)
					_, _, err := l.Acquire(ctx)
					if err != nil {
						t.Error(err)
					}
				})
			}()
			synctest.Wait()
			close(*process.next())
			synctest.Wait()
			want := map[bool]int32{false: 2, true: 1}[leads]
			if n := rounds.Load(); n != want {
				t.Errorf("%d rounds of a replica that has the lease (%v), want %d", n, leads, want)
			}
			time.Sleep(6 * time.Minute)
			synctest.Wait()
			if n := rounds.Load(); n != want+1 {
				t.Errorf("%d rounds after a pause, want %d", n, want+1)
			}
			end()
			<-done
		})
	}
}
