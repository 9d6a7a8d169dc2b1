package open

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"planbridge/bridge/adapters"
	"planbridge/bridge/budgets"
	"planbridge/bridge/effects"
	"planbridge/bridge/epoch"
	"planbridge/bridge/explain"
	"planbridge/bridge/github"
	"planbridge/bridge/operator"
	"planbridge/bridge/planning"
	"planbridge/bridge/renames"
	"planbridge/bridge/settings"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
)

// Operator opens the store of the configuration, for a command that finds no service running. It
// also returns a function that closes the store. A missing store is an error (fs.ErrNotExist), as a
// request must not make one.
func Operator(ctx context.Context, c *config.Config, log *slog.Logger) (*operator.Operator, func() error, error) {
	if path, ok := c.Store.File(); ok {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("open store %s: %w", path, fs.ErrNotExist)
		}
	}
	s, err := Store(ctx, c, log)
	if err != nil {
		return nil, nil, err
	}
	if err := epoch.Check(ctx, s); errors.Is(err, epoch.ErrRetired) {
		log.Warn("no service sees what is changed in this store: store.url has to name its copy", "err", err)
	}
	routes, err := renames.Identified(ctx, s, settings.Read(c))
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	set := settings.NewCurrent(routes)
	return operator.New(operator.Options{Store: s, Settings: set, Services: services{c, s, set}, StoreKind: c.Store.Kind()}), s.Close, nil
}

// services opens the clients for each request, where no service runs.
type services struct {
	config *config.Config
	store  store.Store
	set    *settings.Current
}

// Ready has nothing to wait for.
func (services) Ready(context.Context) error { return nil }

func (s services) GitHub() (explain.GitHub, func(), error) { return s.openGitHub() }

func (s services) openGitHub() (*adapters.GitHub, func(), error) {
	quiet := slog.New(slog.DiscardHandler)
	hub, err := GitHub(s.config, github.Options{Holds: budgets.Holds{Store: s.store}, Logger: quiet})
	if err != nil {
		return nil, nil, err
	}
	return adapters.NewGitHub(hub, s.store, adapters.NoHost{}, 0, quiet), hub.Close, nil
}

func (s services) Planning(id mapping.ObjectID) (operator.Planning, func(), error) {
	for _, p := range s.config.Planning.Projects {
		if mapping.ObjectID(p.ID) == id {
			side, err := s.openPlanning(p)
			if err != nil {
				return nil, nil, err
			}
			return side, side.Close, nil
		}
	}
	return nil, nil, status.ErrName
}

func (s services) openPlanning(p config.Project) (*adapters.Planning, error) {
	client, err := Planning(s.config, p, planning.Options{})
	if err != nil {
		return nil, err
	}
	return adapters.NewPlanning(client), nil
}

func (s services) Previewer() (operator.Previewer, func(), error) {
	hub, closeHub, err := s.openGitHub()
	if err != nil {
		return nil, nil, err
	}
	opened, closers := projects{}, []func(){closeHub}
	done := func() {
		for _, closer := range closers {
			closer()
		}
	}
	for _, p := range s.config.Planning.Projects {
		side, err := s.openPlanning(p)
		if err != nil {
			done()
			return nil, nil, err
		}
		closers = append(closers, side.Close)
		opened[mapping.ObjectID(p.ID)] = side
	}
	return effects.New(effects.Options{
		Store: s.store, GitHub: hub, Renderer: adapters.Renderer{}, Projects: opened, Settings: s.set,
		Logger: slog.New(slog.DiscardHandler),
	}), done, nil
}

// projects are the projects that were opened for one request.
type projects map[mapping.ObjectID]effects.Planning

func (p projects) Planning(id mapping.ObjectID) effects.Planning { return p[id] }
