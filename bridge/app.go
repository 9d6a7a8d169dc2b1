package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
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
	"planbridge/bridge/metrics"
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
	"planbridge/bridge/session"
	"planbridge/bridge/settings"
	"planbridge/bridge/status"
	"planbridge/bridge/verifier"
	"planbridge/bridge/webhook"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
)

// githubRecovery and planningRecovery are how long a service that is down is left alone before
// one request may try again.
const (
	githubRecovery   = 5 * time.Second
	planningRecovery = requeue.ProbeEvery / 2 // each probe finds it over
)

// Options configure an App. Config and Logger are required.
type Options struct {
	Config  *config.Config
	Logger  *slog.Logger
	Version string
	// DryRun writes nothing to either service and logs what would be written.
	DryRun bool
	// Store is used instead of the one that Config names, and stays open; nil: that
	// one.
	Store store.Store
	// Registry takes the metrics; nil: an own one, which has those of the process too.
	Registry *prometheus.Registry
	// Drain bounds how long work in hand goes on after Stop; 0: 8 s.
	Drain time.Duration
	// Now is the clock; nil: the runtime's.
	Now func() time.Time
	// Concurrency is how many keys may be at planning or GitHub at once; 0: 16.
	// Half as many more are worked while the store is asked for them.
	Concurrency int
	// LeaseTTL is how long a key may be worked before others take it over; 0: a minute.
	LeaseTTL time.Duration
	// WritePause is the least time between two GitHub writes; 0: none.
	WritePause time.Duration
	// Network serves both listeners and takes the requests to the services; nil: the
	// system's does.
	Network Network
	// Random draws what spreads waits, in [0, n), and is safe for concurrent use; nil: the runtime's.
	Random func(n int64) int64
	// Owner names this replica in leases, unlike any other and any that ran before; "":
	// the host, the process and a random word do.
	Owner string
	// Prove has the configuration proven against the services while the App runs, and what
	// of it does not work proven again so often; 0: it is not.
	Prove time.Duration
	// RedeliverInterval is the least time between two looks for failed
	// deliveries; 0: github.catch_up_interval, five minutes at least.
	RedeliverInterval time.Duration
	// VisibilityAge is how long GitHub's answer is believed on who can read a repository; 0: 5 minutes.
	VisibilityAge time.Duration
}

// Network is how requests come and go.
type Network interface {
	http.RoundTripper
	// Serve lets a handler answer at an address until stop is called; bound is the
	// address that it got.
	Serve(addr string, h http.Handler) (bound string, stop func(), err error)
}

// App is one running planbridge.
type App struct {
	o            Options
	log          *slog.Logger
	set          *settings.Current
	store        store.Store
	questions    *ledger.Questions
	epoch        atomic.Pointer[string]
	lost         atomic.Bool // the store was, and not everything marked was seen since
	guard        *guard.Guard
	epochTracker *epoch.Tracker
	// made is when New was called: whatever people do from then on is theirs
	// to be seen, though the store may be reached much later.
	made    time.Time
	monitor *monitor.Monitor

	github     *adapters.GitHub
	budgets    *budgets.Budgets
	projects   projects
	catchUp    *catchup.CatchUp
	intake     *webhook.Intake
	session    *session.Keeper
	reconcile  *effects.Shell
	engine     *engine.Engine
	verifier   *verifier.Verifier
	milestones *milestones.Syncer
	account    *accounts.Own
	jobs       *jobs.Runner
	retention  *retention.Keeper
	firstRuns  *catchup.FirstRuns
	pauses     *requeue.Pauses
	renames    *renames.Follower
	requeue    *requeue.Requeuer

	metrics appMetrics
	life    lifecycle
}

// appMetrics are the metrics that parts of an App share or begin later.
type appMetrics struct {
	process  *metrics.Process
	planning *planning.Metrics
	poll     *poll.Metrics
	intake   *webhook.Metrics
	verifier *verifier.Metrics
}

// lifecycle is what an App has started and has to end.
type lifecycle struct {
	public, admin *listener
	cancel        context.CancelFunc
	running       sync.WaitGroup
	stop          sync.Once
	onStop        []func() error // in reverse
}

// New makes everything and starts nothing. The store's file is opened here; a
// Redis is first asked at Start.
func New(o Options) (*App, error) {
	if o.Drain == 0 {
		o.Drain = 8 * time.Second
	}
	if o.Concurrency == 0 {
		o.Concurrency = 16
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Logger = slog.New(factlog.NewHandler(o.Logger.Handler(), o.Now))
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
		projects: projects{byID: map[mapping.ObjectID]*project{}}, made: o.Now(),
	}
	a.jobs, a.monitor = jobs.New(a.guard, o.Now), monitor.New(o.Now)
	a.set = settings.NewCurrent(settings.New(o.Config, o.DryRun, o.Now()))
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
	a.questions = ledger.NewQuestions(a.store, a.o.Now)
	a.epochTracker = epoch.NewTracker(a.store, a.o.Now)
	requests, duration := apiMetrics(a.o.Registry)
	waits := budgets.NewWaits(a.o.Registry)
	a.budgets = budgets.New(budgets.Options{Store: a.store, Settings: a.set, Now: a.o.Now})
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
	host, ticks := host{a.set, a}, clock.New(a.o.Now, a.o.Random)
	a.pauses = requeue.NewPauses(requeue.PauseOptions{Operator: a.Operator(), Settings: a.set, Logger: a.log})
	a.reconcile = effects.New(effects.Options{
		Store: a.store, Epoch: a.epochTracker, GitHub: a.github, Lists: a.github, Labels: a.github, Projects: host, Renderer: adapters.Renderer{}, Settings: a.set, Host: host,
		Clock: ticks, Metrics: effects.NewMetrics(a.o.Registry), Logger: a.log, Guard: a.guard, LeaseTTL: a.o.LeaseTTL, Session: a.session,
	})
	a.milestones = milestones.New(milestones.Options{Reconciler: a.reconcile, Guard: a.guard, Logger: a.log})
	a.requeue = requeue.New(requeue.Options{
		Store: a.store, Settings: a.set, Queue: process{a}, Services: clients{a}, GitHub: a.github, Repositories: a.github.Registry,
		Clock: a.firstRuns, Epoch: a.epochTracker, Sprints: a.milestones, Pauses: a.pauses, Now: a.o.Now, Logger: a.log, Guard: a.guard,
	})
	a.renames = renames.New(renames.Options{Store: a.store, Settings: a.set, Repositories: a.github.Registry, Links: a.requeue, Briefly: briefly, Now: a.o.Now, Logger: a.log})
	a.engine = engine.New(engine.Options{
		Core: a.reconcile, Host: host, Store: a.store, Session: a.session, Clock: ticks, Metrics: engine.NewMetrics(a.o.Registry), Logger: a.log, Guard: a.guard, Observer: a.monitor,
		Concurrency: a.o.Concurrency, StoreWorkers: (a.o.Concurrency + 1) / 2, LeaseTTL: a.o.LeaseTTL,
	})
	a.metrics.intake, a.metrics.verifier = webhook.NewMetrics(a.o.Registry), verifier.NewMetrics(a.o.Registry)
	taking := intakeHost{a.set, a}
	a.intake = webhook.New(webhook.Options{
		Decoder: adapters.Decoder{}, Settings: taking, Accounts: taking, Repositories: taking,
		Store: a.observed(), EnterDelay: c.GitHub.EnterDelay,
		Delivered: a.delivered, Metrics: a.metrics.intake, Logger: a.log,
	})
	services := a.newServices()
	a.verifier = services.Verifier
	a.buildCatchUp(c)
	keep := needs.New(needs.Options{
		Settings: a.set, GitHub: a.github, Rights: githubRoutes{a}, Routes: a.renames, Documents: a.store, Hooks: a.catchUp, Milestones: a.reconcile,
		Projects: &a.projects, Logger: a.log,
	})
	a.retention = retention.New(retention.Options{Store: a.store, Session: a.session, Owner: a.o.Owner, Clock: ticks, Needs: keep, Jobs: a.jobs, Logger: a.log, Guard: a.guard})
	a.life.public = &listener{name: "public", server: a.intake.Server(c.Server.Listen)}
	handler := status.New(status.Options{
		Operator: a.Operator(), Services: services, Monitor: monitor.View{Monitor: a.monitor, Services: healthSource{a.set, a}, Now: a.o.Now}, Now: a.o.Now, Registry: a.o.Registry, Readiness: a, Version: a.o.Version, Logger: a.log, Guard: a.guard,
		Settings: a.set, Loopback: loopback(c.Server.AdminListen),
	})
	a.life.admin = &listener{name: "admin", server: adminServer(c.Server.AdminListen, handler)}
	a.registerMetrics()
	return nil
}

// initMetricSeries lets the series of all routes begin.
func (a *App) initMetricSeries(routes mapping.Routes) {
	for _, r := range routes.All() {
		a.reconcile.Metrics.Expect(r)
		a.engine.Metrics.Expect(r.Name)
		a.metrics.intake.Expect(r)
	}
	a.metrics.verifier.Expect(routes.All())
}

// Handler answers what the admin listener does, for a command in the same
// process.
func (a *App) Handler() http.Handler { return a.life.admin.server.Handler }

// Intake answers what the public listener does. Where the App is not started it takes
// deliveries in once [App.Reach] has succeeded, and nothing works them.
func (a *App) Intake() http.Handler { return a.intake }

// Epoch is the store's epoch as this process knows it; "" before the store was
// first reached.
func (a *App) Epoch() string {
	if e := a.epoch.Load(); e != nil {
		return *e
	}
	return ""
}

// Ready reports why deliveries cannot be taken: the store does not answer.
// GitHub and planning may be away: deliveries must be taken all the same.
func (a *App) Ready(ctx context.Context) error {
	if err := a.epochTracker.Retired(); err != nil {
		return err
	}
	if a.Epoch() == "" {
		return errUnreached
	}
	return a.store.Ping(ctx)
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

// transport takes the requests to the services; nil: the adapters have their own.
func (a *App) transport() http.RoundTripper {
	if a.o.Network == nil {
		return nil
	}
	return a.o.Network
}

// listener is one of the two http servers.
type listener struct {
	name   string
	server *http.Server
	addr   string
	stop   func() // ends what a Network serves
}

func (l *listener) start(ctx context.Context, n Network, g *guard.Guard, serving *sync.WaitGroup, log *slog.Logger) (err error) {
	if n != nil {
		l.addr, l.stop, err = n.Serve(l.server.Addr, l.server.Handler)
		return err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", l.server.Addr)
	if err != nil {
		return fmt.Errorf("%s listener: %w", l.name, err)
	}
	l.addr = ln.Addr().String()
	g.Spawn(serving, l.name+" listener", func() {
		if err := l.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Error("listener ended", "listener", l.name, "err", err)
		}
	})
	return nil
}
