package bridgetest

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"planbridge/bridge/githubtest"
)

// TestWorld is a world that ends with its test, and that fails the test where an awaited state
// never comes.
type TestWorld struct {
	*World
	T testing.TB
}

// StartIn starts a world in a test. With PLANBRIDGE_TEST_LOG its bridges log to standard error.
func StartIn(t testing.TB, o Options) *TestWorld {
	t.Helper()
	if o.Logger == nil && os.Getenv("PLANBRIDGE_TEST_LOG") != "" {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	w, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return &TestWorld{w, t}
}

// Patience bounds the wait for a state of the world. It is many times the usual time, for busy
// machines.
const Patience = 3 * time.Minute

// Await waits for a state of the world.
func (w *TestWorld) Await(what string, cond func() bool) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), Patience)
	defer cancel()
	if err := w.Until(ctx, cond); err != nil {
		w.T.Fatalf("never: %s\ncards: %+v\nissues: %+v", what, w.Project.Cards(), w.Repo.Issues())
	}
}

// AwaitSettled waits until the bridge has nothing left to do, through three polls.
func (w *TestWorld) AwaitSettled() {
	w.T.Helper()
	if err := w.WhileMoving(func(ctx context.Context) error { return w.Settled(ctx, 3) }); err != nil {
		w.T.Fatalf("never settled: %v", err)
	}
}

// WhileMoving waits with Patience that begins anew while deliveries arrive or something is written.
// Many steps take long on a slow machine.
func (w *TestWorld) WhileMoving(wait func(context.Context) error) error {
	moved := func() int {
		n := w.Writes()
		for _, d := range w.GitHub.Deliveries() {
			if d.Status != 0 {
				n++
			}
		}
		return n
	}
	for {
		before := moved()
		ctx, cancel := context.WithTimeout(w.T.Context(), Patience)
		err := wait(ctx)
		cancel()
		if err == nil || moved() == before {
			return err
		}
	}
}

// OpenIssue opens an issue and waits for its card and tracking task.
func (w *TestWorld) OpenIssue(spec githubtest.IssueSpec) (number int, card string) {
	w.T.Helper()
	number = w.Repo.Open("octocat", spec)
	w.Await("a card for "+spec.Title, func() bool {
		for _, c := range w.Project.Cards() {
			if c.Title == spec.Title && len(c.Tasks) == 1 {
				card = c.ID
				return true
			}
		}
		return false
	})
	return number, card
}

// AwaitWithin is Await with a bound of its own, and without the whole world in its
// message.
func (w *TestWorld) AwaitWithin(what string, bound time.Duration, cond func() bool) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), bound)
	defer cancel()
	if err := w.Until(ctx, cond); err != nil {
		if w.App == nil {
			w.T.Fatalf("never: %s", what)
		}
		queues, err := w.App.Operator().Overview(w.T.Context())
		w.T.Fatalf("never: %s; queues: %+v, %v", what, queues, err)
	}
}

// NothingDue reports whether no key is due or waits for a service. Keys that are due later do not
// count.
func (w *TestWorld) NothingDue() bool {
	queues, err := w.App.Operator().Overview(w.T.Context())
	for _, q := range queues {
		if !q.Oldest.IsZero() || len(q.Waiting) > 0 {
			return false
		}
	}
	return err == nil
}
