package randomtest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
	"planbridge/bridge/clock"
	"planbridge/bridge/sim"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store/memstore"
)

// runner is one bridge of a random run. Its methods are for one goroutine.
type runner interface {
	Start() error // of one that runs: does nothing
	Stop() error  // in good order
	Kill()        // as a crash would
	Running() bool
	Webhooks() string // where it takes deliveries
	Logs() string     // the file with all it logged
	Queues(ctx context.Context) (status.Overview, error)
	Failures(ctx context.Context) ([]status.Failure, error)
	Waits(ctx context.Context) ([]status.Standing, error)
	RetryAll(ctx context.Context) error
}

// virtual is a bridge inside the test, in virtual time. It implements runner.
type virtual struct {
	bridgetest.Door
	world  *bridgetest.World
	sim    *simulation
	name   string
	listen string
	log    *logged
	age    time.Duration // see bridge.Options.VisibilityAge

	app     *bridge.App // nil: it does not run
	store   *memstore.Store
	network *sim.Network
}

// logged is what a bridge logs. It is a file once somebody wants to read it.
type logged struct {
	t    *testing.T
	path string

	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) file() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := os.WriteFile(l.path, l.text.Bytes(), 0o600); err != nil {
		l.t.Error(err)
	}
	return l.path
}

// lots is the clock of the bubble that draws as the scheduler says.
type lots struct {
	clock.Runtime
	scheduler *sim.Scheduler
	actor     string
}

// Int64N implements [clock.Source].
func (l lots) Int64N(n int64) int64 { return l.scheduler.Random(l.actor, n) }

func (v *virtual) Start() error {
	if v.app != nil {
		return nil
	}
	v.sim.scheduler.Step("operator", "starts "+v.name)
	configured := v.sim.configured()
	c, err := v.config()
	if err != nil {
		return err
	}
	v.store = v.sim.memory.Open(nil)
	v.network = &sim.Network{Network: v.sim.network, Actor: v.name, Scheduler: v.sim.scheduler, Witness: &v.sim.witness}
	ttl, err := time.ParseDuration(bridgetest.ShortLease)
	if err != nil {
		return err
	}
	app, err := bridge.New(bridge.Options{
		Config: c, Logger: slog.New(slog.NewJSONHandler(v.log, nil)), Version: "test", Owner: v.name + "-" + mapping.NewID(), LeaseTTL: ttl, Drain: 3 * time.Second,
		Store: &sim.Store{Store: v.store, Actor: v.name, Scheduler: v.sim.scheduler, Witness: &v.sim.witness}, Network: v.network, Clock: lots{scheduler: v.sim.scheduler, actor: v.name},
		VisibilityAge: v.age,
	})
	if err != nil {
		return err
	}
	if err := app.Start(context.Background()); err != nil {
		return err
	}
	if v.app = app; configured != v.sim.configured() {
		return v.reload(context.Background())
	}
	return nil
}

func (v *virtual) Stop() error {
	if v.app == nil {
		return nil
	}
	v.sim.scheduler.Step("operator", "stops "+v.name)
	ctx, cancel := context.WithTimeout(context.Background(), bridgetest.EndsWithin)
	defer cancel()
	err := v.app.Stop(ctx)
	v.app = nil
	return err
}

func (v *virtual) Kill() {
	if v.app == nil {
		return
	}
	v.sim.scheduler.Step("operator", "kills "+v.name)
	v.store.Crash()
	v.network.Crash()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = v.app.Stop(ctx) // it says that something is still under way
	v.app = nil
}

func (v *virtual) Running() bool    { return v.app != nil }
func (v *virtual) Logs() string     { return v.log.file() }
func (v *virtual) Webhooks() string { return "http://" + v.listen + "/webhooks/github" }

// Queues asks the store itself: a check for rest takes no step, and costs nothing.
func (v *virtual) Queues(ctx context.Context) (out status.Overview, err error) {
	for _, project := range v.projects() {
		d, err := v.sim.memory.Open(nil).Depth(ctx, project)
		if err != nil {
			return out, err
		}
		out.Projects = append(out.Projects, status.Project{Name: string(project), Live: d.Live, Bulk: d.Bulk, Waiting: d.Waiting, Failures: d.Failures, Oldest: d.Oldest})
	}
	return out, nil
}

// Waits asks the store itself.
func (v *virtual) Waits(ctx context.Context) (all []status.Standing, err error) {
	for _, project := range v.projects() {
		standings, err := v.sim.memory.Open(nil).Standings(ctx, project, 1000)
		if err != nil {
			return all, err
		}
		for _, at := range standings {
			all = append(all, status.Standing{
				Key: at.Key.String(), Route: at.Route, Where: at.Where, State: string(at.State), At: at.At, Service: at.Service, Reason: at.Reason, Attempts: at.Attempts,
			})
		}
	}
	return all, nil
}

// newVirtual prepares a bridge; nothing runs yet.
func (c *chaos) newVirtual(name string) *virtual {
	n := len(c.bridges) + 1
	return &virtual{
		Door:  bridgetest.Door{Client: &http.Client{Transport: c.sim.network, Timeout: 2 * time.Second}, Admin: fmt.Sprintf("127.0.0.1:82%02d", n)},
		world: c.World, sim: c.sim, name: name, listen: fmt.Sprintf("127.0.0.1:81%02d", n), log: &logged{t: c.t, path: filepath.Join(c.dir, name+".log")}, age: c.visibilityAge(),
	}
}

// config is the bridge's configuration as it is now.
func (v *virtual) config() (*config.Config, error) {
	yaml := strings.Replace(v.world.YAML(), `"127.0.0.1:0"`, `"`+v.listen+`"`, 1)
	yaml = strings.Replace(yaml, `"127.0.0.1:0"`, `"`+v.Admin+`"`, 1)
	if v.sim.away.Load() {
		yaml = strings.Replace(yaml, "- repository: "+bridgetest.RepoName+"\n", "- repository: "+elsewhere+"\n", 1)
	}
	yaml = v.sim.other.configure(yaml, v.sim.setup.Load())
	return config.Parse([]byte(yaml), "planbridge.yaml", v.world.Env)
}

// projects are those that the bridge synchronises.
func (v *virtual) projects() []mapping.ObjectID {
	all := []mapping.ObjectID{mapping.ObjectID(v.world.Project.ID())}
	if v.sim.other != nil {
		all = append(all, mapping.ObjectID(v.sim.other.project.ID()))
	}
	return all
}

// reload has a bridge that runs take the configuration as it is now.
func (v *virtual) reload(ctx context.Context) error {
	app := v.app
	if app == nil {
		return nil
	}
	conf, err := v.config()
	if err == nil {
		err = app.Reload(ctx, conf)
	}
	return err
}
