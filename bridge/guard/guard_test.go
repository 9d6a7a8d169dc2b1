package guard_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"planbridge/bridge/guard"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAPanicIsSetAsideUntilItIsOver(t *testing.T) {
	var log bytes.Buffer
	g := guard.New(slog.New(slog.NewTextHandler(&log, nil)))
	for range 3 {
		err := g.Do("card", "c1", func() error { panic("no such thing") })
		if !guard.Panicked(err) || err.Error() != "card c1: panic: no such thing" {
			t.Errorf("Do = %v", err)
		}
	}
	if err := g.Do("card", "c2", func() error { return nil }); err != nil {
		t.Error(err)
	}
	fs := g.Failures()
	if len(fs) != 1 || fs[0].Item != "c1" || fs[0].Count != 3 || fs[0].At.IsZero() {
		t.Errorf("Failures = %+v", fs)
	}
	if n := strings.Count(log.String(), "stack="); n != 1 {
		t.Errorf("%d lines of three panics of one item:\n%s", n, &log)
	}
	_ = g.Do("card", "c1", func() error { return nil })
	if fs := g.Failures(); len(fs) != 0 {
		t.Errorf("Failures after a success = %+v", fs)
	}
}

func TestNeitherLinesNorFailuresGrowWithoutBound(t *testing.T) {
	var log bytes.Buffer
	g := guard.New(slog.New(slog.NewTextHandler(&log, nil)))
	for n := range 3000 {
		_ = g.Do("delivery", fmt.Sprint(n), func() error { panic("no") })
	}
	if n := strings.Count(log.String(), "stack="); n > 50 {
		t.Errorf("%d lines", n)
	}
	if fs := g.Failures(); len(fs) != 1000 || fs[len(fs)-1].Item != "2999" {
		t.Errorf("%d failures", len(fs))
	}
}

func TestALoopBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		g := guard.New(slog.New(slog.DiscardHandler))
		runs := 0
		var wg sync.WaitGroup
		g.Spawn(&wg, "watch", func() {
			g.Keep(ctx, "watch", func() {
				if runs++; runs < 3 {
					panic("no")
				}
				<-ctx.Done()
			})
		})
		synctest.Wait()
		if fs := g.Failures(); runs != 1 || len(fs) != 1 {
			t.Errorf("%d runs, failures %+v", runs, fs)
		}
		cancel()
		wg.Wait()
	})
}

// A guard that nobody made recovers, too.
func TestWithoutAGuard(t *testing.T) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	var g *guard.Guard
	if err := g.Do("card", "c1", func() error { panic("no") }); !guard.Panicked(err) {
		t.Errorf("Do = %v", err)
	}
	if fs := g.Failures(); fs != nil {
		t.Errorf("Failures = %+v", fs)
	}
}
