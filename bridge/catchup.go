package bridge

import (
	"context"
	"time"

	"planbridge/bridge/adapters"
	"planbridge/bridge/catchup"
	"planbridge/bridge/factlog"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/settings"
	"planbridge/bridge/status"
	"planbridge/config"
)

func (a *App) buildCatchUp(c *config.Config) {
	lists := &adapters.Lists{GitHub: a.github}
	var hooks catchup.Hooks
	if !a.o.DryRun {
		hooks = lists // asking for a delivery again is a write
	}
	host := catchUpHost{a.set, a}
	a.catchUp = catchup.New(catchup.Options{
		GitHub: lists, Hooks: hooks, App: c.GitHub.App != nil, RedeliverInterval: a.o.RedeliverInterval, Intake: a.intake, Store: a.observed(),
		Settings: host, Host: host, Owner: a.o.Owner, Session: a.session, Clock: a.o.Clock,
		Interval: c.GitHub.CatchUpInterval, Settle: c.GitHub.Settle, Logger: a.log, Guard: a.guard,
	})
}

// catchUpHost is the program as the catch-up sees it.
type catchUpHost struct {
	*settings.Current
	a *App
}

func (h catchUpHost) FirstRun(route string) time.Time { return h.a.firstRuns.ByGitHub(route) }
func (h catchUpHost) LostAt() time.Time               { return h.a.epochTracker.Lost() }
func (h catchUpHost) Answered(ctx context.Context)    { h.a.listed(ctx) }
func (h catchUpHost) Failed(error)                    {} // the catch-up logged it

// listed follows a catch-up that GitHub answered. Work that waited for it goes on. Projects that
// waited for a search of GitHub's side are adopted.
func (a *App) listed(ctx context.Context) {
	a.monitor.Heard(reconcile.ServiceGitHub, status.SourceCatchUp)
	a.log.Info("GitHub answers again", "service", reconcile.ServiceGitHub, factlog.Over, factlog.Away)
	a.log.Info("GitHub takes the token again", "service", reconcile.ServiceGitHub, factlog.Over, factlog.Refused)
	a.log.Info("GitHub is listed again", "service", reconcile.ServiceGitHub, factlog.Over, catchup.FactNotListed)
	a.metrics.process.CaughtUp(a.o.Clock.Now())
	a.requeue.WakeGitHub(ctx)
	a.requeue.WakeRepositories(ctx)
	a.requeue.TakeUpPrivate(ctx)
	for _, p := range a.projects.all() {
		if err := p.poller.Adopt(ctx); err != nil {
			a.log.Warn("adopting after a catch-up", "err", err)
		}
	}
}
