package randomtest_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"planbridge/bridge"
	"planbridge/bridge/bridgetest"
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
	log    *os.File
	age    time.Duration // see bridge.Options.VisibilityAge

	app     *bridge.App // nil: it does not run
	store   *memstore.Store
	network *sim.Network
}

func (v *virtual) Start() error {
	if v.app != nil {
		return nil
	}
	v.sim.scheduler.Step("operator", "starts "+v.name)
	away := v.sim.away.Load()
	c, err := v.config()
	if err != nil {
		return err
	}
	v.store = v.sim.memory.Open(nil)
	v.network = &sim.Network{Network: v.sim.network, Actor: v.name, Scheduler: v.sim.scheduler}
	ttl, err := time.ParseDuration(bridgetest.ShortLease)
	if err != nil {
		return err
	}
	app, err := bridge.New(bridge.Options{
		Config: c, Logger: slog.New(slog.NewJSONHandler(v.log, nil)), Version: "test", Owner: v.name + "-" + mapping.NewID(), LeaseTTL: ttl, Drain: 3 * time.Second,
		Store: &sim.Store{Store: v.store, Actor: v.name, Scheduler: v.sim.scheduler, Unexplained: v.sim.noteUnexplained}, Network: v.network, Random: func(n int64) int64 { return v.sim.scheduler.Random(v.name, n) },
		VisibilityAge: v.age,
	})
	if err != nil {
		return err
	}
	if err := app.Start(context.Background()); err != nil {
		return err
	}
	if v.app = app; away != v.sim.away.Load() {
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
func (v *virtual) Logs() string     { return v.log.Name() }
func (v *virtual) Webhooks() string { return "http://" + v.listen + "/webhooks/github" }

// Queues asks the store itself: whoever looks whether all is at rest takes no step, and
// costs nothing.
func (v *virtual) Queues(ctx context.Context) (out status.Overview, err error) {
	project := v.world.Project.ID()
	d, err := v.sim.memory.Open(nil).Depth(ctx, mapping.ObjectID(project))
	out.Projects = []status.Project{{Name: project, Live: d.Live, Bulk: d.Bulk, Waiting: d.Waiting, Failures: d.Failures, Oldest: d.Oldest}}
	return out, err
}

// Waits asks the store itself.
func (v *virtual) Waits(ctx context.Context) (all []status.Standing, err error) {
	standings, err := v.sim.memory.Open(nil).Standings(ctx, mapping.ObjectID(v.world.Project.ID()), 1000)
	for _, at := range standings {
		all = append(all, status.Standing{
			Key: at.Key.String(), Route: at.Route, Where: at.Where, State: string(at.State), At: at.At, Service: at.Service, Reason: at.Reason, Attempts: at.Attempts,
		})
	}
	return all, err
}

// newVirtual prepares a bridge; nothing runs yet.
func (c *chaos) newVirtual(name string) (*virtual, error) {
	log, err := os.Create(filepath.Join(c.dir, name+".log"))
	if err != nil {
		return nil, err
	}
	n := len(c.bridges) + 1
	return &virtual{
		Door:  bridgetest.Door{Client: &http.Client{Transport: c.sim.network, Timeout: 2 * time.Second}, Admin: fmt.Sprintf("127.0.0.1:82%02d", n)},
		world: c.World, sim: c.sim, name: name, listen: fmt.Sprintf("127.0.0.1:81%02d", n), log: log, age: c.visibilityAge(),
	}, nil
}

// config is the bridge's configuration as it is now.
func (v *virtual) config() (*config.Config, error) {
	yaml := strings.Replace(v.world.YAML(), `"127.0.0.1:0"`, `"`+v.listen+`"`, 1)
	yaml = strings.Replace(yaml, `"127.0.0.1:0"`, `"`+v.Admin+`"`, 1)
	if v.sim.away.Load() {
		yaml = strings.Replace(yaml, "- repository: "+bridgetest.RepoName+"\n", "- repository: "+elsewhere+"\n", 1)
	}
	return config.Parse([]byte(yaml), "planbridge.yaml", v.world.Env)
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
