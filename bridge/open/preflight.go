package open

import (
	"context"
	"log/slog"

	"planbridge/bridge/adapters"
	"planbridge/bridge/github"
	"planbridge/bridge/planning"
	"planbridge/bridge/preflight"
	"planbridge/bridge/settings"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/store"
)

// Running is the service that runs with a configuration. An error says why no service answered.
type Running interface {
	// EachLink visits its links.
	EachLink(ctx context.Context, visit func(status.Link)) error
	// Unready returns why it is not ready; "": it is.
	Unready(ctx context.Context) (string, error)
}

// Preflight opens the store and the clients of a configuration, for a check.
type Preflight struct {
	Config *config.Config
	// Running is asked where another process has the store.
	Running Running
	Logger  *slog.Logger
}

// OpenGitHub implements [preflight.Services].
func (s Preflight) OpenGitHub() (preflight.GitHub, error) {
	hub, err := GitHub(s.Config, github.Options{Timeout: preflight.RequestTimeout, Logger: s.Logger})
	if err != nil {
		return nil, err
	}
	return adapters.PreflightGitHub{Client: hub}, nil
}

// OpenPlanning implements [preflight.Services].
func (s Preflight) OpenPlanning(name string) (preflight.Planning, error) {
	client, err := Planning(s.Config, s.Config.Planning.Projects[name], planning.Options{Timeout: preflight.RequestTimeout, ReadRetries: 1, Logger: s.Logger})
	if err != nil {
		return nil, err
	}
	return adapters.PreflightPlanning{Client: client}, nil
}

// OpenStore implements [preflight.Services].
func (s Preflight) OpenStore(ctx context.Context, log *slog.Logger) (store.Store, error) {
	return Store(ctx, s.Config, log)
}

// RunningLinks implements [preflight.Services].
func (s Preflight) RunningLinks(ctx context.Context, visit func(status.Link)) error {
	return s.Running.EachLink(ctx, visit)
}

// RunningUnready implements [preflight.Services].
func (s Preflight) RunningUnready(ctx context.Context) (string, error) { return s.Running.Unready(ctx) }

// Source returns the configuration of a running service that has to be proven.
type Source struct {
	Settings *settings.Current
	Logger   *slog.Logger
}

// Configuration implements [preflight.Source].
func (s Source) Configuration() (plan *preflight.Plan, services preflight.Services, version any) {
	set := s.Settings.Load()
	return set.Plan(), Preflight{Config: set.Config, Logger: s.Logger}, set.Config
}
