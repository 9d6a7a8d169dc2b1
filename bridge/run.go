package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"planbridge/bridge/adapters"
	"planbridge/bridge/epoch"
	"planbridge/bridge/factlog"
	"planbridge/bridge/guard"
	"planbridge/bridge/open"
	"planbridge/bridge/retention"
	"planbridge/mapping"
	"planbridge/store"

	"planbridge/bridge/preflight"
	"planbridge/bridge/requeue"
)

// Start listens and begins to work. It fails only where it cannot listen; services that are away
// are awaited in the background. ctx bounds the start alone: Stop ends the App.
func (a *App) Start(ctx context.Context) error {
	for _, l := range []*listener{a.life.public, a.life.admin} {
		if err := l.start(ctx, a.o.Network, a.guard, &a.life.running, a.log); err != nil {
			return errors.Join(err, a.Stop(context.Background()))
		}
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a.life.cancel = cancel
	a.spawn(running, "start", a.run)
	a.warnOf(a.o.Config)
	a.log.Info("started", "version", a.o.Version, "public", a.Addr(), "admin", a.AdminAddr(), "dry_run", a.o.DryRun)
	return nil
}

// Open prepares an App that was not started for requests that change nothing (dry runs of imports,
// verifications), on its [App.Handler]. Nothing listens and nothing works until Start; Stop ends
// it.
func (a *App) Open(ctx context.Context) error {
	now, err := a.epochTracker.Check(ctx)
	if err != nil {
		return err
	}
	if err := a.account.Recall(ctx); err != nil {
		return err
	}
	if _, err := a.github.Viewer(ctx); errors.Is(err, mapping.ErrUnauthorized) {
		return err
	} else if err != nil {
		a.account.Without(err)
	}
	a.epoch.Store(&now)
	a.account.Settle()
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a.life.cancel = cancel
	a.jobs.Open(running)
	return nil
}

// Addr is where the public listener listens, as host:port.
func (a *App) Addr() string { return a.life.public.addr }

// AdminAddr is where the admin listener listens, as host:port.
func (a *App) AdminAddr() string { return a.life.admin.addr }

// Stop ends the App: it begins no new work, finishes or hands back the keys in hand, and closes
// everything. It may be called more than once.
func (a *App) Stop(ctx context.Context) error {
	var err error
	a.life.stop.Do(func() {
		if a.life.cancel != nil {
			a.life.cancel()
		}
		a.stopListening(ctx)
		err = errors.Join(a.awaitEnd(ctx), a.close())
		factlog.Flush(ctx, a.log)
		a.log.Info("stopped")
	})
	return err
}

// stopListening ends both listeners. It cuts off requests that do not end in time, as deliveries
// come again.
func (a *App) stopListening(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, a.o.Drain)
	defer cancel()
	var ending sync.WaitGroup
	for _, l := range []*listener{a.life.public, a.life.admin} {
		if l.stop != nil {
			l.stop()
		}
		a.guard.Spawn(&ending, "end of the "+l.name+" listener", func() {
			if err := l.server.Shutdown(ctx); err != nil {
				a.log.Warn("requests are cut off", "listener", l.name, "err", errors.Join(err, l.server.Close()))
			}
		})
	}
	ending.Wait()
}

// awaitEnd waits until nothing runs any more, or ctx ends.
func (a *App) awaitEnd(ctx context.Context) error {
	ended := make(chan struct{})
	a.guard.Spawn(nil, "stop", func() {
		defer close(ended)
		a.life.running.Wait()
		a.jobs.Wait()
	})
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop: something is still under way: %w", ctx.Err())
	}
}

func (a *App) close() error {
	var err error
	for _, end := range slices.Backward(a.life.onStop) {
		err = errors.Join(err, end())
	}
	a.life.onStop = nil
	return err
}

// run boots and works until ctx ends.
func (a *App) run(ctx context.Context) {
	if !a.until(ctx, "reach the store", a.Reach) {
		return
	}
	// The session lasts until the keys in hand are handed back.
	a.session.During(ctx, func() { a.runReached(ctx) })
}

// runReached begins the work that needs the store, and works until ctx ends.
func (a *App) runReached(ctx context.Context) {
	a.spawnTicking(ctx, "watch", watchInterval, a.watch)
	a.spawnTicking(ctx, "watch planning", requeue.ProbeEvery, a.requeue.WatchPlanning)
	repairer := retention.NewRepairer(retention.RepairOptions{
		Store: a.store, Session: a.session, Owner: a.o.Owner, Clock: a.o.Clock, Logger: a.log, Guard: a.guard,
	})
	a.spawn(ctx, "repair", repairer.Run)
	a.jobs.Open(ctx)
	a.projects.start(func(p *project) (stop func()) { return a.spawn(ctx, "poll of "+p.name, p.poller.Run) })
	a.spawn(ctx, "account", a.account.Run)
	notice := preflight.QuarantineNotice{Source: open.Source{Settings: a.set, Logger: a.log}, Store: a.store, Visibility: adapters.Visibility{GitHub: a.github}, Logger: a.log}
	a.spawn(ctx, "quarantine", func(ctx context.Context) { a.until(ctx, "tell which repositories are public", notice.Give) })
	a.spawn(ctx, "reroute", func(ctx context.Context) {
		a.until(ctx, "look for links that go by other routes", func(ctx context.Context) error {
			links, err := a.requeue.Reroute(ctx)
			if err == nil {
				links.Tell(a.log)
			}
			return err
		})
	})
	if !a.o.DryRun {
		a.spawn(ctx, "verify", a.verifier.Run)
	}
	if a.o.Prove > 0 {
		prover := preflight.NewProver(preflight.ProverOptions{
			Source: open.Source{Settings: a.set, Logger: a.log}, Every: a.o.Prove, Clock: a.o.Clock, Guard: a.guard, Logger: a.log,
			Monitor: a.monitor,
		})
		a.spawn(ctx, "prove", prover.Run)
	}
	a.guard.Keep(ctx, "work", func() { a.work(ctx) })
}

// Reach asks the store for what the intake needs: the epoch, when routes began to run, and which
// account is the bridge's own. An App that was started does so by itself, until it succeeds.
func (a *App) Reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	epoch, err := a.epochTracker.Check(ctx)
	if errors.Is(err, store.ErrEpoch) {
		if _, err = a.store.Adopt(ctx); err == nil {
			epoch, err = a.epochTracker.Check(ctx)
		}
	}
	if err != nil {
		return err
	}
	if err := a.renames.Learn(ctx); err != nil {
		return err
	}
	if err := a.recallIdentities(ctx); err != nil {
		return err
	}
	if err := a.renames.IdentifyNow(ctx); err != nil {
		return err
	}
	if err := a.firstRuns.Record(ctx, a.set.Routes().All(), a.made); err != nil {
		return err
	}
	if err := a.account.Recall(ctx); err != nil {
		return err
	}
	a.epoch.Store(&epoch)
	return a.pauses.Learn(ctx)
}

// watchInterval is how often the App compares the store's epoch, and probes GitHub while it is
// away.
const watchInterval = 5 * time.Second

// watch notices a store that was lost or replaced, and a GitHub that is back.
func (a *App) watch(ctx context.Context, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		a.watchOnce(ctx)
	}
}

// watchOnce does the work of one tick of watch. A panic in one check does not keep the others from
// running.
func (a *App) watchOnce(ctx context.Context) {
	step := func(what string, level slog.Level, do func(context.Context) error) {
		err := a.guard.Do("watch", what, func() error { return do(ctx) })
		if err != nil && ctx.Err() == nil && !guard.Panicked(err) {
			a.log.Log(ctx, level, what, "err", err)
		}
	}
	err := a.guard.Do("watch", "the store's epoch", func() error { return a.checkEpoch(ctx) })
	if err != nil && !guard.Panicked(err) {
		if ctx.Err() == nil {
			a.warnAway(err)
		}
		return
	}
	a.log.Info("the store answers again", factlog.Over, factlog.StoreAway)
	if _, how := a.github.Known(); how == mapping.Unknown { // another replica may know it
		step("looking for the bridge's own account", slog.LevelWarn, a.account.Recall)
	}
	step("looking whether the store has room", slog.LevelWarn, a.checkRoom)
	step("looking which routes are paused", slog.LevelWarn, a.pauses.Learn)
	step("links of renamed repositories keep their routes", slog.LevelWarn, a.requeue.RerouteRenamed)
	step("looking whether everything marked was seen", slog.LevelWarn, a.tellRecovered)
	step("what keys wait for is still away", slog.LevelDebug, a.requeue.WakeWaiting)
}

// warnAway logs why the store cannot be used.
func (a *App) warnAway(err error) {
	if errors.Is(err, epoch.ErrRetired) {
		a.log.Error("no service works on this store any more: store.url has to name its copy", "err", err, factlog.Fact, "the store was copied")
		return
	}
	a.log.Warn("the store does not answer", "err", err, factlog.Fact, factlog.StoreAway)
}

// checkRoom logs that the store takes writes again. Only the store knows what it refused before.
func (a *App) checkRoom(ctx context.Context) error {
	if err := a.store.Ping(ctx); err != nil {
		return err
	}
	a.log.Info("the store takes writes again", factlog.Over, factlog.StoreFull)
	return nil
}

// checkEpoch takes over the epoch of a store that was lost or replaced. The pollers then read
// everything, and nothing is created before they are done.
func (a *App) checkEpoch(ctx context.Context) error {
	epoch, err := a.epochTracker.Check(ctx)
	if err == nil && epoch == a.Epoch() {
		if err := a.renames.Learn(ctx); err != nil {
			return err
		}
		set := a.set.Load()
		return a.firstRuns.Update(ctx, set.Routes.All(), set.Made)
	}
	if err != nil && !errors.Is(err, store.ErrEpoch) {
		return err
	}
	was := a.Epoch()
	if err := a.Reach(ctx); err != nil {
		return err
	}
	if a.epochTracker.IsSameStore(was, a.Epoch()) {
		a.log.Warn("the store's servers restarted: everything marked is looked at before anything is created")
		return nil
	}
	a.log.Error("the store is not the one it was: everything marked is looked at before anything is created", "epoch", a.Epoch(), factlog.Fact, store.FactLost)
	a.lost.Store(true)
	return nil
}

// tellRecovered logs that all projects have adopted the epoch, where the store was lost before.
// Another replica may have adopted them.
func (a *App) tellRecovered(ctx context.Context) error {
	if !a.lost.Load() {
		return nil
	}
	for _, project := range a.set.Routes().Projects() {
		doc, err := a.store.Doc(ctx, project, store.DocAdopted)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if string(doc) != a.Epoch() {
			return nil
		}
	}
	a.lost.Store(false)
	a.log.Info("everything marked has been looked at: items are created again", factlog.Over, store.FactLost)
	return nil
}
