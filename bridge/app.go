package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"planbridge/bridge/accounts"
	"planbridge/bridge/adapters"
	"planbridge/bridge/budgets"
	"planbridge/bridge/catchup"
	"planbridge/bridge/clock"
	"planbridge/bridge/effects"
	"planbridge/bridge/engine"
	"planbridge/bridge/epoch"
	"planbridge/bridge/guard"
	"planbridge/bridge/jobs"
	"planbridge/bridge/ledger"
	"planbridge/bridge/metrics"
	"planbridge/bridge/milestones"
	"planbridge/bridge/monitor"
	"planbridge/bridge/planning"
	"planbridge/bridge/poll"
	"planbridge/bridge/renames"
	"planbridge/bridge/requeue"
	"planbridge/bridge/retention"
	"planbridge/bridge/session"
	"planbridge/bridge/settings"
	"planbridge/bridge/verifier"
	"planbridge/bridge/webhook"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
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
	// Registry takes the metrics; nil: a registry of the App's own, which also has the process's
	// metrics.
	Registry *prometheus.Registry
	// Drain bounds how long work in hand goes on after Stop; 0: 8 s.
	Drain time.Duration
	// Clock tells the time, and draws what spreads waits; nil: the runtime's.
	Clock clock.Source
	// Concurrency is how many keys may be at planning or GitHub at once; 0: 16.
	// Half as many more are worked while the store is asked for them.
	Concurrency int
	// LeaseTTL is how long a key may be worked before others take it over; 0: a minute.
	LeaseTTL time.Duration
	// WritePause is the least time between two GitHub writes; 0: none.
	WritePause time.Duration
	// Network serves both listeners and takes the requests to the services; nil: the system's
	// network.
	Network Network
	// Owner names this replica in leases, unlike all others now and before. "" stands for the host,
	// the process and a random word.
	Owner string
	// Prove has a new configuration proven as a whole, and its failed places again at this
	// interval; 0: nothing is proven.
	Prove time.Duration
	// RedeliverInterval is the least time between two searches for failed deliveries; 0:
	// github.catch_up_interval, five minutes at least.
	RedeliverInterval time.Duration
	// VisibilityAge is how long GitHub's answer is believed on who can read a repository; 0: 5 minutes.
	VisibilityAge time.Duration
}

// Network transports requests and answers.
type Network interface {
	http.RoundTripper
	// Serve has a handler answer at an address until stop is called. bound is the address that it
	// listens on.
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
	lost         atomic.Bool // the store was lost, and not every marked item was seen since
	guard        *guard.Guard
	epochTracker *epoch.Tracker
	// made is when New was called. Routes begin to run then, also where the store is reached much
	// later, so that every later change by people counts as new.
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

// lifecycle has the parts that an App has started and has to end.
type lifecycle struct {
	public, admin *listener
	cancel        context.CancelFunc
	running       sync.WaitGroup
	stop          sync.Once
	onStop        []func() error // in reverse
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

// Handler answers as the admin listener does, for a command in the same process.
func (a *App) Handler() http.Handler { return a.life.admin.server.Handler }

// Intake answers as the public listener does. Where the App is not started it takes deliveries in
// once [App.Reach] has succeeded, and nothing works them.
func (a *App) Intake() http.Handler { return a.intake }

// Epoch is the store's epoch as this process knows it; "" before the store was
// first reached.
func (a *App) Epoch() string {
	if e := a.epoch.Load(); e != nil {
		return *e
	}
	return ""
}

// errUnreached puts off work that needs the store, before the store was first reached.
var errUnreached = errors.New("the store has not been reached yet")

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
	stop   func() // ends a Network's server
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
