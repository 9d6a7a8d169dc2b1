package session

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// process is a Keeper on a shared memory.
type process struct {
	*Keeper
	store *memstore.Store
	cut   atomic.Bool  // the store does not answer
	slow  atomic.Int64 // the delay of its answers
	kicks atomic.Int64
}

func (p *process) Kick() { p.kicks.Add(1) }

// Heartbeat implements [store.Sessions].
func (p *process) Heartbeat(ctx context.Context, s store.Session, lasts time.Duration) ([]store.Session, error) {
	if p.cut.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	fallen, err := p.store.Heartbeat(ctx, s, lasts)
	time.Sleep(time.Duration(p.slow.Load()))
	return fallen, err
}

// EndSessions implements [store.Sessions].
func (p *process) EndSessions(ctx context.Context, over []store.Session) (int, error) {
	return p.store.EndSessions(ctx, over)
}

// begin starts a process, and returns the function that ends it.
func begin(m *memstore.Memory) (p *process, end func()) {
	log := slog.New(slog.DiscardHandler)
	p = &process{store: m.Open(nil)}
	p.Keeper = New(Options{Store: p, Logger: log, Guard: guard.New(log), Queue: p})
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		p.During(context.Background(), func() { <-stop })
	}()
	synctest.Wait()
	return p, func() {
		close(stop)
		<-ended
	}
}

const project = mapping.ObjectID("p")

// claim makes a link and claims its key for an hour.
func (p *process) claim(t *testing.T) *store.Claim {
	t.Helper()
	l := &mapping.Link{ID: mapping.LinkID(mapping.NewID()), Project: project}
	if _, err := p.store.Observe(t.Context(), project, []store.Observation{{Create: l}}); err != nil {
		t.Fatal(err)
	}
	c, _, err := p.store.Claim(t.Context(), project, time.Hour)
	if err != nil || c == nil {
		t.Fatalf("Claim = %+v, %v", c, err)
	}
	return c
}

func inWorld(t *testing.T, f func(t *testing.T, m *memstore.Memory)) {
	synctest.Test(t, func(t *testing.T) { f(t, memstore.New(memstore.Options{Clock: clock.Runtime{}})) })
}

// A living process keeps its leases. The keys of a dead one are due for another process between
// ten seconds and one interval more after its last heartbeat.
func TestTheKeysOfADeadProcessAreDue(t *testing.T) {
	inWorld(t, func(t *testing.T, m *memstore.Memory) {
		dies, kill := begin(m)
		lives, end := begin(m)
		defer end()
		old, own := dies.claim(t), lives.claim(t)
		time.Sleep(time.Minute + Interval/2) // between two heartbeats
		if err := errors.Join(dies.store.Check(t.Context(), old), lives.store.Check(t.Context(), own)); err != nil {
			t.Fatal(err)
		}
		if id, err := dies.Current(); id != old.Session || id == own.Session || err != nil {
			t.Errorf("the session is %q (%v), and the claim's %q", id, err, old.Session)
		}
		fallen := lives.Fallen()
		dies.store.Crash()
		kicks := lives.kicks.Load()
		kill()
		time.Sleep(Lasts - Interval)
		if c, _, err := lives.store.Claim(t.Context(), project, time.Hour); c != nil || err != nil {
			t.Errorf("Claim = %+v, %v before the session can have fallen", c, err)
		}
		select {
		case <-fallen:
			t.Error("the session is said to have fallen before it can have")
		default:
		}
		time.Sleep(2 * Interval)
		c, _, err := lives.store.Claim(t.Context(), project, time.Hour)
		if err != nil || c == nil || c.Key != old.Key || !c.AfterAbandoned {
			t.Errorf("Claim = %+v, %v, want the dead process's key", c, err)
		}
		<-fallen
		if lives.kicks.Load() == kicks {
			t.Error("nobody was told that keys are due")
		}
		if err := lives.store.Check(t.Context(), own); err != nil {
			t.Error(err)
		}
	})
}

// Without answers from the store a process stops before others continue, and then goes on under
// another session.
func TestAProcessEndsItsSessionBeforeTheStoreDoes(t *testing.T) {
	inWorld(t, func(t *testing.T, m *memstore.Memory) {
		p, end := begin(m)
		defer end()
		c := p.claim(t)
		ctx, cancel := p.Bound(t.Context(), c.Session)
		defer cancel()
		time.Sleep(time.Minute + Interval/2)
		if !p.Alive() || ctx.Err() != nil {
			t.Fatalf("Alive %v, Err %v while the store answers", p.Alive(), ctx.Err())
		}
		p.cut.Store(true)
		cut := time.Now()
		<-ctx.Done()
		if d := time.Since(cut); d > Lasts-Margin || d < Lasts-Margin-Interval {
			t.Errorf("the session ended %v after the store was away", d)
		}
		if id, err := p.Current(); id != "" || !errors.Is(err, ErrEnded) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the session is %q, %v", id, err)
		}
		if p.Alive() || !errors.Is(context.Cause(ctx), ErrEnded) {
			t.Errorf("Alive %v, cause %v", p.Alive(), context.Cause(ctx))
		}
		if err := p.store.Check(t.Context(), c); err != nil {
			t.Errorf("the store ended the lease first: %v", err)
		}
		time.Sleep(time.Minute)
		p.cut.Store(false)
		time.Sleep(2 * Interval)
		if !p.Alive() {
			t.Fatal("no session though the store answers")
		}
		if late, cancel := p.Bound(t.Context(), c.Session); late.Err() == nil {
			cancel()
			t.Error("a claim of the session that ended may go on")
		}
		next := p.claim(t)
		if next.Session == c.Session {
			t.Error("the session came back")
		}
		ctx, cancel = p.Bound(t.Context(), next.Session)
		defer cancel()
		if err := ctx.Err(); err != nil {
			t.Error(err)
		}
	})
}

// A late answer does not revive an ended session.
func TestALateAnswerRevivesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, m *memstore.Memory) {
		p, end := begin(m)
		defer end()
		c := p.claim(t)
		ctx, cancel := p.Bound(t.Context(), c.Session)
		defer cancel()
		p.slow.Store(int64(Lasts))
		time.Sleep(Lasts)
		p.slow.Store(0)
		time.Sleep(2 * Lasts)
		if ctx.Err() == nil || !p.Alive() {
			t.Errorf("Err %v of the claim before, Alive %v", ctx.Err(), p.Alive())
		}
	})
}

// A stopped process may continue anywhere: its first question, before any timer runs, shows that
// the session is over.
func TestEndedWithoutATimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := New(Options{Logger: slog.New(slog.DiscardHandler)})
		l := newLife("s")
		if !l.extend(time.Now().Add(Lasts)) {
			t.Fatal("a new session is over")
		}
		k.current.Store(l)
		ctx, cancel := k.Bound(t.Context(), "s")
		defer cancel()
		l.timer.Stop()
		time.Sleep(Lasts)
		select {
		case <-ctx.Done():
			t.Fatal("something other than Err ended the context")
		default:
		}
		if ctx.Err() == nil || k.Alive() {
			t.Errorf("Err %v, Alive %v", ctx.Err(), k.Alive())
		}
		<-ctx.Done()
	})
}

func TestBoundWithoutASession(t *testing.T) {
	k := New(Options{Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := k.Bound(t.Context(), "")
	defer cancel()
	if ctx.Err() != nil {
		t.Error(ctx.Err())
	}
}

// A process that stops in order ends its session and its leases.
func TestAProcessLeaves(t *testing.T) {
	inWorld(t, func(t *testing.T, m *memstore.Memory) {
		stops, stop := begin(m)
		lives, end := begin(m)
		defer end()
		old := stops.claim(t)
		stop()
		if c, _, err := lives.store.Claim(t.Context(), project, time.Hour); err != nil || c == nil || c.Key != old.Key {
			t.Errorf("Claim = %+v, %v, want what the other one had", c, err)
		}
		if bytes.Contains(m.Content(), []byte(old.Session)) {
			t.Error("the session is still known")
		}
	})
}
