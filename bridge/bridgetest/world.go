// Package bridgetest makes a whole world in one call: a GitHub, a planning service and a bridge
// between them. They use real HTTP on loopback addresses.
//
// Its entry point is [Start]. A test (or the demo) then acts as people do on either side, through
// World.Repo and World.Project. It waits for the other side's state with [World.Until] and
// [World.Settled].
package bridgetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"planbridge/bridge"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/nettest"
	"planbridge/bridge/planningtest"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
)

// The fixed names of every world.
const (
	RepoName      = "acme/web"
	Bot           = "planbridge-bot"
	Token         = "ghp_world"
	WebhookSecret = "It's a Secret to Everybody"
	Bucket        = "Incoming"
	BridgeUser    = "bridge"
	markerKey     = "a marker key for tests and demos"
)

// Options configure a World. The zero value is a world on the embedded store
// with short intervals.
type Options struct {
	Dir    string // for the embedded store; "": a temporary one, removed by Close
	Store  string // store.url; "": file: in Dir
	Prefix string // store.prefix
	// OpenStore opens a bridge's handle on another store than that of Store; nil: none does.
	OpenStore func() store.Store
	Logger    *slog.Logger

	// Route is YAML that is added to the one route, indented by four spaces.
	Route string
	// Config edits the whole YAML before it is loaded; nil: as it is.
	Config func(yaml string) string

	GitHub   githubtest.Options
	Planning planningtest.Options
	// Poll, CatchUp, Settle and EnterDelay are the intervals of the same
	// names; 0: 150 ms, 400 ms, 500 ms and none.
	Poll, CatchUp, Settle, EnterDelay time.Duration
	Coalesce                          time.Duration // 0: nothing is folded, so that each edit crosses at once
	WritePause                        time.Duration
	Prove                             time.Duration // how often failed parts of the configuration are proven again; 0: never
	LeaseTTL                          time.Duration
	Concurrency                       int           // keys worked at once; 0: as usual
	Redeliver                         time.Duration // the least time between two searches for failed deliveries; 0: minutes
	Public                            bool          // the repository is public
	Members                           []string      // of the repository
	// Network connects both services and the bridge; nil: loopback sockets. Its addresses
	// are free until somebody serves them.
	Network nettest.Network
	// Idle leaves the bridge unstarted.
	Idle bool
}

// World is a GitHub, a planning service and a bridge.
type World struct {
	GitHub   *githubtest.Server
	Repo     *githubtest.Repo
	Hook     int64
	Planning *planningtest.Server
	Project  *planningtest.Project
	App      *bridge.App

	o        Options
	listen   string
	replicas []*bridge.App // beside App
	remove   func()
}

// Start makes a world and starts its bridge.
func Start(o Options) (*World, error) {
	o.Poll = or(o.Poll, 150*time.Millisecond)
	o.CatchUp = or(o.CatchUp, 400*time.Millisecond)
	o.Settle = or(o.Settle, 500*time.Millisecond)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	w := &World{o: o, listen: "127.0.0.1:0", remove: func() {}}
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "planbridge-world-")
		if err != nil {
			return nil, err
		}
		w.o.Dir = dir
		w.remove = func() { os.RemoveAll(dir) }
	}
	if err := w.services(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if o.Idle {
		return w, nil
	}
	if err := w.StartBridge(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func (w *World) services() (err error) {
	w.o.GitHub.Network, w.o.Planning.Network = w.o.Network, w.o.Network
	if w.GitHub, err = githubtest.Start(w.o.GitHub); err != nil {
		return err
	}
	w.GitHub.AddToken(Token, Bot)
	w.Repo = w.GitHub.AddRepo(RepoName, githubtest.RepoSpec{Private: !w.o.Public, Members: w.o.Members})
	if w.Planning, err = planningtest.Start(w.o.Planning); err != nil {
		return err
	}
	w.Project = w.Planning.AddProject(planningtest.ProjectSpec{
		Title: "Web", Members: []string{"alice", BridgeUser}, Buckets: []string{Bucket, "Bugs", "Later"},
	})
	return nil
}

// YAML is the world's configuration file.
func (w *World) YAML() string {
	storeURL := or(w.o.Store, "file:"+filepath.Join(w.o.Dir, "planbridge.db"))
	var route strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(w.o.Route, "\n"), "\n") {
		if line != "" {
			route.WriteString("    " + line + "\n")
		}
	}
	text := fmt.Sprintf(`server:
  listen: %q
  admin_listen: "127.0.0.1:0"
github:
  api_url: %s
  webhook_secrets: [env:GITHUB_WEBHOOK_SECRET]
  token: env:GITHUB_TOKEN
  catch_up_interval: %s
  settle: %s
  writes_per_minute: 10000
  writes_per_hour: 600000
  enter_delay: %s
planning:
  base_url: %s
  poll_interval: %s
  poll_min: 24h # the pause is fixed
  task_sweep_interval: 2s
  settle: %s
  projects:
    web:
      id: %s
      secret: env:PLANNING_WEB_SECRET
      username: %s
users: {octocat: alice}
store:
  url: %q
  prefix: %q
marker_key: env:PLANBRIDGE_MARKER_KEY
coalesce: %s
retry: {max_attempts: 12, max_interval: 1s}
routes:
  - repository: %s
    project: web
    bucket: %s
%s`, w.listen, w.GitHub.URL(), w.o.CatchUp, w.o.Settle, w.o.EnterDelay, w.Planning.URL(), w.o.Poll, w.o.Settle,
		w.Project.ID(), BridgeUser, storeURL, or(w.o.Prefix, "planbridge"), w.o.Coalesce, RepoName, Bucket, route.String())
	if w.o.Config != nil {
		text = w.o.Config(text)
	}
	return text
}

// Env is the environment that the configuration's secrets come from.
func (w *World) Env(name string) (string, bool) {
	v, ok := map[string]string{
		"GITHUB_WEBHOOK_SECRET": WebhookSecret,
		"GITHUB_TOKEN":          Token,
		"PLANNING_WEB_SECRET":   w.Project.Secret(),
		"PLANBRIDGE_MARKER_KEY": markerKey,
	}[name]
	return v, ok
}

// StartBridge starts the bridge, on the address it had before if it had one.
func (w *World) StartBridge() (err error) {
	if w.listen == "127.0.0.1:0" {
		if w.listen, err = w.freeAddr(); err != nil {
			return err
		}
	}
	c, err := config.Parse([]byte(w.YAML()), "planbridge.yaml", w.Env)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startWait)
	defer cancel()
	w.Until(ctx, func() bool { //nolint:errcheck // err says what it waited for
		w.App, err = w.startApp(c)
		return !errors.Is(err, syscall.EADDRINUSE)
	})
	if err == nil && w.Hook == 0 {
		w.Hook = w.GitHub.AddHook(RepoName, w.WebhookURL(), WebhookSecret)
	}
	return err
}

// startWait bounds how long a bridge waits for its address. A process that is started meanwhile may
// hold the former address for a moment.
const startWait = time.Minute

func (w *World) startApp(c *config.Config) (*bridge.App, error) {
	o := bridge.Options{Config: c, Logger: w.o.Logger, Version: "test", WritePause: w.o.WritePause, LeaseTTL: w.o.LeaseTTL, Concurrency: w.o.Concurrency, RedeliverInterval: w.o.Redeliver, Prove: w.o.Prove, Drain: 3 * time.Second}
	if w.o.Network != nil {
		o.Network = w.o.Network
	}
	if w.o.OpenStore != nil {
		o.Store = w.o.OpenStore()
	}
	app, err := bridge.New(o)
	if err != nil {
		return nil, err
	}
	if err := app.Start(context.Background()); err != nil {
		return nil, err
	}
	return app, nil
}

// freeAddr is an address that the bridge can listen on.
func (w *World) freeAddr() (string, error) {
	if w.o.Network != nil {
		return "127.0.0.1:8100", nil
	}
	return FreeAddr()
}

// stopWait is longer than a bridge's own bound, for busy machines.
const stopWait = time.Minute

// StopBridge stops the bridge in good order.
func (w *World) StopBridge() error {
	if w.App == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopWait)
	defer cancel()
	err := w.App.Stop(ctx)
	w.App = nil
	return err
}

// Close ends everything.
func (w *World) Close() error {
	err := w.StopBridge()
	if w.GitHub != nil {
		w.GitHub.Close()
	}
	if w.Planning != nil {
		w.Planning.Close()
	}
	w.remove()
	return err
}

// Hold keeps both services' answers back until the returned function is called. People's acts
// meanwhile on both sides are one moment for the bridge, whichever it sees first.
func (w *World) Hold() (goOn func()) {
	github, planning := w.GitHub.Hold(), w.Planning.Hold()
	return func() {
		planning()
		github()
	}
}

// These bound the pause between two checks of a condition. A check takes processor time, which is
// scarce where many worlds run at once. A long wait may also end a little later.
const minLook, maxLook = 5 * time.Millisecond, 50 * time.Millisecond

// Until waits until cond holds, or ctx ends.
func (w *World) Until(ctx context.Context, cond func() bool) error {
	began := time.Now()
	for !cond() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(max(time.Since(began)/20, minLook), maxLook)):
		}
	}
	return nil
}

// Writes counts what has been written to both services by the bridge.
func (w *World) Writes() int {
	return w.GitHub.Writes() + w.Planning.Calls(planningtest.OpCardCreate, planningtest.OpCardUpdate, planningtest.OpTaskCreate, planningtest.OpTaskUpdate)
}

// Settled waits until the bridge has nothing left to do. Every delivery has arrived, no key is due
// or in hand, and no write was made through a number of complete polls.
func (w *World) Settled(ctx context.Context, polls int) error {
	if err := w.GitHub.Idle(ctx); err != nil {
		return fmt.Errorf("deliveries under way: %w", err)
	}
	writes, seen := -1, 0
	return w.Until(ctx, func() bool {
		now := w.Writes()
		// The backlog is read once a poll; the queue must be empty as well.
		n := w.Planning.Calls(planningtest.OpBacklogItems)
		if now != writes || w.busy(ctx) {
			writes, seen = now, n
		}
		return n >= seen+polls
	})
}

// folds reports whether edits wait to be folded.
func (w *World) folds(ctx context.Context) (yes bool) {
	err := w.App.Operator().Links(ctx, "", func(l *mapping.Link) error {
		for _, p := range l.Issues() {
			for _, f := range p.Pace.Folds {
				yes = yes || f.Held
			}
		}
		return nil
	})
	return yes || err != nil
}

// busy reports whether keys are due or being worked. Keys that are due later do not count.
func (w *World) busy(ctx context.Context) bool {
	queues, err := w.App.Operator().Overview(ctx)
	if err != nil {
		return true
	}
	for _, app := range slices.Concat(w.replicas, []*bridge.App{w.App}) {
		if app.InHand() > 0 { // a key that is leased is not due
			return true
		}
	}
	if w.o.Coalesce > 0 && w.folds(ctx) {
		return true
	}
	for _, q := range queues {
		if !q.Oldest.IsZero() || len(q.Waiting) > 0 {
			return true
		}
	}
	return false
}
