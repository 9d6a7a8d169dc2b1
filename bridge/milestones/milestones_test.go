package milestones

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/guard"
	"planbridge/bridge/logtest"
	"planbridge/mapping"
)

// reconciler notes when milestones of which project were brought in line.
type reconciler struct {
	mu    sync.Mutex
	began time.Time
	calls []call
	fails func(n int) error // of the nth call; nil: none does
}

type call struct {
	project mapping.ObjectID
	after   time.Duration
}

func (r *reconciler) Milestones(_ context.Context, project mapping.ObjectID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call{project, time.Since(r.began)})
	if r.fails == nil {
		return nil
	}
	return r.fails(len(r.calls))
}

// during runs a Syncer in virtual time while act tells it of sprints, and returns what was done and
// logged.
func during(t *testing.T, fails func(n int) error, act func(s *Syncer)) (calls []call, log *logtest.Text) {
	t.Helper()
	log = new(logtest.Text)
	synctest.Test(t, func(t *testing.T) {
		logger := slog.New(slog.NewTextHandler(log, nil))
		r := &reconciler{began: time.Now(), fails: fails}
		s := New(Options{Reconciler: r, Guard: guard.New(logger), Logger: logger})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { s.Run(ctx) })
		synctest.Wait()
		act(s)
		synctest.Wait()
		cancel()
		running.Wait()
		calls = r.calls
	})
	return calls, log
}

// TestSprintsThatChanged: each project is handled as soon as its sprints have changed, in the order
// of ids. It is handled once for all changes meanwhile.
func TestSprintsThatChanged(t *testing.T) {
	calls, log := during(t, nil, func(s *Syncer) {
		time.Sleep(time.Minute)
		for _, project := range []mapping.ObjectID{"b", "a", "b", "c", "a"} {
			s.SprintsChanged(project)
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		s.SprintsChanged("a")
	})
	last := calls[len(calls)-1]
	if last != (call{"a", 2 * time.Minute}) {
		t.Errorf("what was told a minute later was done as %+v", last)
	}
	seen := map[mapping.ObjectID]int{}
	for _, c := range calls[:len(calls)-1] {
		if seen[c.project]++; c.after != time.Minute {
			t.Errorf("%s waited until %v", c.project, c.after)
		}
	}
	if len(seen) != 3 || seen["c"] != 1 || log.String() != "" {
		t.Errorf("done were %+v, logged %q", calls, log)
	}
}

// TestMilestonesThatFail: they are tried again after a pause that doubles up to ten minutes, with
// one line in the log. The first success ends that.
func TestMilestonesThatFail(t *testing.T) {
	down := func(n int) error {
		if n <= 12 {
			return errors.New("GitHub is away")
		}
		return nil
	}
	calls, log := during(t, down, func(s *Syncer) {
		s.SprintsChanged("a")
		time.Sleep(2 * time.Hour)
		s.SprintsChanged("a")
	})
	var pauses []time.Duration
	for i, c := range calls[1:] {
		pauses = append(pauses, c.after-calls[i].after)
	}
	want := []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600}
	for i := range want {
		want[i] *= time.Second
	}
	if len(pauses) != 13 || !slices.Equal(pauses[:12], want) {
		t.Errorf("pauses were %v, want %v", pauses, want)
	}
	if last := calls[len(calls)-1]; last.after != 2*time.Hour {
		t.Errorf("after the success the next change waited until %v", last.after)
	}
	if n := log.Lines("milestones; to be tried again"); n != 1 {
		t.Errorf("%d lines: %s", n, log)
	}
}

// TestOneProjectThatFails: the others are brought in line meanwhile, and what is told while it
// waits, waits with it.
func TestOneProjectThatFails(t *testing.T) {
	calls, _ := during(t, func(n int) error {
		if n == 1 {
			return errors.New("no such repository")
		}
		return nil
	}, func(s *Syncer) {
		s.SprintsChanged("a")
		synctest.Wait()
		s.SprintsChanged("b")
		synctest.Wait()
		time.Sleep(firstPause)
	})
	if want := []call{{"a", 0}, {"a", firstPause}, {"b", firstPause}}; !slices.Equal(calls, want) {
		t.Errorf("done were %+v, want %+v", calls, want)
	}
}

// TestMilestonesThatPanic: the project is set aside and shown, is tried again, and the loop goes on.
func TestMilestonesThatPanic(t *testing.T) {
	calls, log := during(t, func(n int) error {
		if n == 1 {
			panic("no sprint")
		}
		return nil
	}, func(s *Syncer) {
		s.SprintsChanged("a")
		time.Sleep(time.Minute)
	})
	if len(calls) != 2 || log.Lines("panic: no sprint") == 0 || log.Lines("to be tried again") != 0 {
		t.Errorf("done were %+v, logged %s", calls, log)
	}
}
