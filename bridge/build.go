package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"planbridge/bridge/accounts"
	"planbridge/bridge/adapters"
	"planbridge/bridge/budgets"
	"planbridge/bridge/catchup"
	"planbridge/bridge/clock"
	"planbridge/bridge/effects"
	"planbridge/bridge/engine"
	"planbridge/bridge/epoch"
	"planbridge/bridge/factlog"
	"planbridge/bridge/github"
	"planbridge/bridge/guard"
	"planbridge/bridge/jobs"
	"planbridge/bridge/ledger"
	"planbridge/bridge/milestones"
	"planbridge/bridge/monitor"
	"planbridge/bridge/needs"
	"planbridge/bridge/open"
	"planbridge/bridge/planning"
	"planbridge/bridge/poll"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/renames"
	"planbridge/bridge/requeue"
	"planbridge/bridge/retention"
	"planbridge/bridge/settings"
	"planbridge/bridge/status"
	"planbridge/bridge/verifier"
	"planbridge/bridge/webhook"
	"planbridge/config"
	"planbridge/mapping"
)

// githubRecovery is how long no request is sent to GitHub while it is down, before one may try
// again.
const githubRecovery = 5 * time.Second

// New makes everything and starts nothing. The store's file is opened here; a
// Redis is first asked at Start.
func New(o Options) (*App, error) {
	if o.Drain == 0 {
		o.Drain = 8 * time.Second
	}
	if o.Concurrency == 0 {
		o.Concurrency = 16
	}
	if o.Clock == nil {
		o.Clock = clock.Runtime{}
	}
	o.Logger = slog.New(factlog.NewHandler(o.Logger.Handler(), o.Clock))
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
		o.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewBuildInfoCollector(),
			collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	if o.Owner == "" {
		o.Owner = ownerName()
	}
	a := &App{
		o: o, log: o.Logger, guard: guard.New(o.Logger),
		projects: projects{byID: map[mapping.ObjectID]*project{}}, made: o.Clock.Now(),
	}
	a.jobs, a.monitor = jobs.New(a.guard, o.Clock), monitor.New(o.Clock)
	a.set = settings.NewCurrent(settings.New(o.Config, o.DryRun, o.Clock.Now()))
	for _, b := range []func(*config.Config) error{a.buildStore, a.buildSides, a.buildWork} {
		if err := b(o.Config); err != nil {
			return nil, errors.Join(err, a.close())
		}
	}
	a.initMetricSeries(a.set.Routes())
	return a, nil
}

// ownerName tells this process from all other replicas.
func ownerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), mapping.NewID())
}

// buildStore opens the store: that of a dry run, one that was given, or the configured one.
func (a *App) buildStore(c *config.Config) (err error) {
	if a.o.Store != nil && !a.o.DryRun {
		a.store = a.o.Store
		return nil
	}
	var closeStore func() error
	if a.o.DryRun {
		a.store, closeStore, err = open.ScratchStore(a.log)
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if a.store, err = open.Store(ctx, c, a.log); err == nil {
			closeStore = a.store.Close
		}
	}
	if err == nil {
		a.life.onStop = append(a.life.onStop, closeStore)
	}
	return err
}

func (a *App) buildSides(c *config.Config) error {
	a.session = a.newSession()
	a.questions = ledger.NewQuestions(a.store, a.o.Clock)
	a.epochTracker = epoch.NewTracker(a.store, a.o.Clock)
	requests, duration := apiMetrics(a.o.Registry)
	waits := budgets.NewWaits(a.o.Registry)
	a.budgets = budgets.New(budgets.Options{Store: a.store, Settings: a.set, Clock: a.o.Clock})
	hub, err := open.GitHub(c, github.Options{
		Share: a.budgets, Holds: budgets.Holds{Store: a.store}, WritePause: a.o.WritePause, Logger: a.log, Recovery: githubRecovery,
		Metrics: &github.Metrics{Requests: requests, Duration: duration, Waits: waits}, Transport: a.transport(), Observer: answers{a.monitor, reconcile.ServiceGitHub},
	})
	if err != nil {
		return err
	}
	a.github = adapters.NewGitHub(hub, a.store, githubRoutes{a}, a.o.VisibilityAge, a.log)
	a.account = accounts.NewOwn(accounts.OwnOptions{Store: a.store, GitHub: hub, People: a.github.People, Logger: a.log})
	a.firstRuns = catchup.NewFirstRuns(a.store, a.set, hub)
	a.life.onStop = append(a.life.onStop, func() error { hub.Close(); return nil })
	a.metrics.planning, a.metrics.poll = &planning.Metrics{Requests: requests, Duration: duration}, poll.NewMetrics(a.o.Registry)
	a.life.onStop = append(a.life.onStop, func() error {
		for _, p := range a.projects.all() {
			p.side.Close()
		}
		return nil
	})
	return a.addProjects(c)
}

func apiMetrics(r prometheus.Registerer) (*prometheus.CounterVec, *prometheus.HistogramVec) {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "planbridge_api_requests_total", Help: "Requests to the two services, by operation and answer."}, []string{"api", "operation", "code"})
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "planbridge_api_request_duration_seconds", Help: "How long requests to the two services took.", Buckets: prometheus.ExponentialBuckets(0.005, 2, 14)}, []string{"api", "operation"})
	r.MustRegister(requests, duration)
	return requests, duration
}

func (a *App) buildWork(c *config.Config) error {
	host := host{a.set, a}
	a.pauses = requeue.NewPauses(requeue.PauseOptions{Operator: a.Operator(), Settings: a.set, Logger: a.log})
	a.reconcile = effects.New(effects.Options{
		Store: a.store, Epoch: a.epochTracker, GitHub: a.github, Lists: a.github, Labels: a.github, Projects: host, Renderer: adapters.Renderer{}, Settings: a.set, Host: host,
		Clock: a.o.Clock, Metrics: effects.NewMetrics(a.o.Registry), Logger: a.log, Guard: a.guard, LeaseTTL: a.o.LeaseTTL, Session: a.session,
	})
	a.milestones = milestones.New(milestones.Options{Reconciler: a.reconcile, Guard: a.guard, Logger: a.log})
	a.requeue = requeue.New(requeue.Options{
		Store: a.store, Settings: a.set, Queue: operatorHost{a}, Services: clients{a}, GitHub: a.github, Repositories: a.github.Registry,
		FirstRuns: a.firstRuns, Epoch: a.epochTracker, Sprints: a.milestones, Pauses: a.pauses, Timeout: reroutesFor, Clock: a.o.Clock, Logger: a.log, Guard: a.guard,
	})
	a.renames = renames.New(renames.Options{Store: a.store, Settings: a.set, Repositories: a.github.Registry, Links: a.requeue, Timeout: namesFor, Clock: a.o.Clock, Logger: a.log})
	a.engine = engine.New(engine.Options{
		Core: a.reconcile, Host: host, Store: a.store, Session: a.session, Clock: a.o.Clock, Metrics: engine.NewMetrics(a.o.Registry), Logger: a.log, Guard: a.guard, Observer: a.monitor,
		Concurrency: a.o.Concurrency, StoreWorkers: (a.o.Concurrency + 1) / 2, LeaseTTL: a.o.LeaseTTL,
	})
	a.metrics.intake, a.metrics.verifier = webhook.NewMetrics(a.o.Registry), verifier.NewMetrics(a.o.Registry)
	taking := intakeHost{a.set, a}
	a.intake = webhook.New(webhook.Options{
		Decoder: adapters.Decoder{}, Settings: taking, Accounts: taking, Repositories: taking,
		Store: a.observed(), EnterDelay: c.GitHub.EnterDelay,
		Monitor: taking, Metrics: a.metrics.intake, Logger: a.log,
	})
	services := a.newServices()
	a.verifier = services.Verifier
	a.buildCatchUp(c)
	keep := needs.New(needs.Options{
		Settings: a.set, GitHub: a.github, Rights: githubRoutes{a}, Routes: a.renames, Documents: a.store, Hooks: a.catchUp, Milestones: a.reconcile,
		Projects: &a.projects, Logger: a.log,
	})
	a.retention = retention.New(retention.Options{Store: a.store, Session: a.session, Owner: a.o.Owner, Clock: a.o.Clock, Needs: keep, Jobs: a.jobs, Logger: a.log, Guard: a.guard})
	a.life.public = &listener{name: "public", server: a.intake.Server(c.Server.Listen)}
	handler := status.New(status.Options{
		Operator: a.Operator(), Services: services, Monitor: monitor.View{Monitor: a.monitor, Services: healthSource{a.set, a}, Clock: a.o.Clock}, Clock: a.o.Clock, Registry: a.o.Registry, Readiness: a, Version: a.o.Version, Logger: a.log, Guard: a.guard,
		Settings: a.set, Loopback: loopback(c.Server.AdminListen),
	})
	a.life.admin = &listener{name: "admin", server: adminServer(c.Server.AdminListen, handler)}
	a.registerMetrics()
	return nil
}

func adminServer(addr string, h http.Handler) *http.Server {
	return &http.Server{
		Addr: addr, Handler: h,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 2 * time.Minute, IdleTimeout: time.Minute,
	}
}

func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	return status.Loopback(host)
}
