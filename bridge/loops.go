package bridge

import (
	"context"
	"errors"
	"runtime/pprof"
	"time"

	"planbridge/store"
)

// bootPause is the time between two attempts to reach the services of the start.
const bootPause = time.Second

// spawn runs a loop of the App, which begins anew after a panic, until ctx ends. Stop ends it
// before, and waits for its end.
func (a *App) spawn(ctx context.Context, what string, loop func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	a.guard.Spawn(&a.life.running, what, func() {
		defer close(ended)
		a.guard.Keep(ctx, what, func() { pprof.Do(ctx, pprof.Labels("loop", what), loop) })
	})
	return func() { cancel(); <-ended }
}

// spawnTicking runs a loop that waits for ticks.
func (a *App) spawnTicking(ctx context.Context, what string, interval time.Duration, loop func(context.Context, <-chan time.Time)) {
	a.spawn(ctx, what, func(ctx context.Context) {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		loop(ctx, tick.C)
	})
}

// until repeats a step that must succeed once before work can begin.
func (a *App) until(ctx context.Context, what string, try func(context.Context) error) bool {
	for n := 0; ; n++ {
		err := try(ctx)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		switch {
		case n%30 != 0:
		case errors.Is(err, store.ErrCopied): // this error does not end by itself
			a.log.Error("nothing is taken in and nothing is written: store.url names a store that was copied; name its copy there, or use this one again by planbridge restore --force", "err", err)
		default:
			a.log.Warn("not yet able to "+what, "err", err)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(bootPause):
		}
	}
}
