package bridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"planbridge/bridge/adapters"
	"planbridge/bridge/budgets"
	"planbridge/bridge/effects"
	"planbridge/bridge/epoch"
	"planbridge/bridge/explain"
	"planbridge/bridge/github"
	"planbridge/bridge/operator"
	"planbridge/bridge/planning"
	"planbridge/bridge/settings"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
)

// Operator returns the operator's door to the running App.
func (a *App) Operator() *operator.Operator {
	return operator.New(operator.Options{
		Store: a.store, Settings: a.set, Services: liveServices{a}, Process: process{a}, Worker: a.o.Owner,
		StoreKind: StoreKind(a.o.Config), Guard: a.guard, Questions: a.questions, Now: a.o.Now,
	})
}

// OpenOperator opens the store that the configuration names, for a command
// that finds no service running, and returns what closes it again. A store
// that is not there yet is an error (fs.ErrNotExist), for a question must not make one.
func OpenOperator(ctx context.Context, c *config.Config, log *slog.Logger) (*operator.Operator, func() error, error) {
	if path, ok := c.Store.File(); ok {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("open store %s: %w", path, fs.ErrNotExist)
		}
	}
	s, err := OpenStore(ctx, c, log)
	if err != nil {
		return nil, nil, err
	}
	if err := epoch.Check(ctx, s); errors.Is(err, epoch.ErrRetired) {
		log.Warn("no service sees what is changed in this store: store.url has to name its copy", "err", err)
	}
	set := settings.NewCurrent(settings.New(c, false, time.Time{}))
	return operator.New(operator.Options{Store: s, Settings: set, Services: openedServices{c, s, set}, StoreKind: StoreKind(c)}), s.Close, nil
}

// process is the App as an operator knows it.
type process struct{ app *App }

func (p process) Kick() { p.app.engine.Kick() }

func (p process) NotePaused(route string, paused bool) { p.app.pauses.Note(route, paused) }

func (p process) FirstRun(route string) time.Time { return p.app.firstRuns.At(route) }

func (p process) Works(key store.Key) bool { return p.app.engine.Works(key) }

// Accepted takes over what an operator has accepted.
func (p process) Accepted(ctx context.Context, repo string) error {
	p.app.github.People.Forget()
	if repo == "" {
		return nil
	}
	p.app.github.Registry.Forget(repo)
	return p.app.renames.Learn(ctx)
}

// liveServices are those that the App speaks to.
type liveServices struct{ app *App }

// Ready waits until what every change needs is known: the store and the bridge's own
// account.
func (s liveServices) Ready(ctx context.Context) error {
	if err := s.app.account.Ready(ctx); err != nil {
		return fmt.Errorf("waiting for GitHub: %w", err)
	}
	return nil
}

func (s liveServices) GitHub() (explain.GitHub, func(), error) { return s.app.github, func() {}, nil }

func (s liveServices) Planning(id mapping.ObjectID) (operator.Planning, func(), error) {
	p := s.app.projects.get(id)
	if p == nil {
		return nil, nil, status.ErrName
	}
	return p.side, func() {}, nil
}

func (s liveServices) Previewer() (operator.Previewer, func(), error) {
	return s.app.reconcile, func() {}, nil
}

// openedServices are opened for each question, where no service runs that has its
// clients open.
type openedServices struct {
	config *config.Config
	store  store.Store
	set    *settings.Current
}

// Ready has nothing to wait for.
func (openedServices) Ready(context.Context) error { return nil }

func (s openedServices) GitHub() (explain.GitHub, func(), error) {
	return s.openGitHub()
}

func (s openedServices) openGitHub() (*adapters.GitHub, func(), error) {
	hub, err := newGitHubClient(s.config, github.Options{Holds: budgets.Holds{Store: s.store}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, nil, err
	}
	return adapters.NewGitHub(hub, s.store, adapters.NoHost{}, 0, slog.New(slog.DiscardHandler)), hub.Close, nil
}

func (s openedServices) Planning(id mapping.ObjectID) (operator.Planning, func(), error) {
	side, err := s.openPlanning(id)
	if err != nil {
		return nil, nil, err
	}
	return side, side.Close, nil
}

func (s openedServices) openPlanning(id mapping.ObjectID) (*adapters.Planning, error) {
	for _, p := range s.config.Planning.Projects {
		if mapping.ObjectID(p.ID) != id {
			continue
		}
		client, err := planning.New(planning.Options{
			BaseURL: s.config.Planning.BaseURL, Project: id, Secret: p.Secret.Reveal(), Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return nil, err
		}
		return adapters.NewPlanning(client), nil
	}
	return nil, status.ErrName
}

func (s openedServices) Previewer() (operator.Previewer, func(), error) {
	hub, closeHub, err := s.openGitHub()
	if err != nil {
		return nil, nil, err
	}
	sides, closers := openedProjects{}, []func(){closeHub}
	done := func() {
		for _, closer := range closers {
			closer()
		}
	}
	for _, p := range s.config.Planning.Projects {
		id := mapping.ObjectID(p.ID)
		side, err := s.openPlanning(id)
		if err != nil {
			done()
			return nil, nil, err
		}
		closers = append(closers, side.Close)
		sides[id] = side
	}
	return effects.New(effects.Options{
		Store: s.store, GitHub: hub, Renderer: adapters.Renderer{}, Projects: sides, Settings: s.set,
		Logger: slog.New(slog.DiscardHandler),
	}), done, nil
}

// openedProjects are the projects that were opened for one question.
type openedProjects map[mapping.ObjectID]effects.Planning

func (p openedProjects) Planning(id mapping.ObjectID) effects.Planning { return p[id] }
