package bridge

import (
	"context"
	"log/slog"
	"time"

	"planbridge/bridge/adapters"
	"planbridge/bridge/github"
	"planbridge/bridge/planning"
	"planbridge/bridge/preflight"
	"planbridge/bridge/settings"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
)

// Running visits the links of the service that runs with a configuration; an error says
// why there was none that answered.
type Running func(ctx context.Context, visit func(status.Link)) error

// CheckOptions say how a configuration is checked.
type CheckOptions struct {
	HookURL string // where webhooks that are missing are to lead; "": none is made
	// Running tells of the links where another process has the store.
	Running Running
	// AgainstRunning has Running tell of the links also where the store can be read.
	AgainstRunning bool
	Logger         *slog.Logger
}

// Check proves a configuration against the live services, see [preflight.Check].
func Check(ctx context.Context, c *config.Config, o CheckOptions) []preflight.Finding {
	plan := settings.New(c, false, time.Time{}).Plan()
	plan.HookURL, plan.AgainstRunning = o.HookURL, o.AgainstRunning
	return preflight.Check(ctx, plan, preflightServices{c, o.Running, o.Logger}, o.Logger)
}

// Expand tells the effective routes of each repository, see [preflight.Expand].
func Expand(ctx context.Context, c *config.Config, log *slog.Logger) ([]preflight.Expanded, error) {
	return preflight.Expand(ctx, settings.New(c, false, time.Time{}).Plan(), preflightServices{config: c, log: log})
}

// RouteChanges compares the routes that a service runs with with those of a configuration.
func RouteChanges(running []mapping.Route, c *config.Config) mapping.RouteChanges {
	return mapping.NewRoutes(running).ChangesTo(settings.New(c, false, time.Time{}).Routes)
}

// Configuration is that of [preflight.Source].
func (s preflightSource) Configuration() (*preflight.Plan, preflight.Services, any) {
	set := s.set.Load()
	return set.Plan(), preflightServices{config: set.Config, log: s.log}, set.Config
}

// preflightSource tells the prover which configuration is in force.
type preflightSource struct {
	set *settings.Current
	log *slog.Logger
}

// preflightServices opens what a configuration names, for a check.
type preflightServices struct {
	config  *config.Config
	running Running
	log     *slog.Logger
}

func (s preflightServices) OpenGitHub() (preflight.GitHub, error) {
	hub, err := newGitHubClient(s.config, github.Options{Timeout: preflight.RequestTimeout, Logger: s.log})
	if err != nil {
		return nil, err
	}
	return adapters.PreflightGitHub{Client: hub}, nil
}

func (s preflightServices) OpenPlanning(name string) (preflight.Planning, error) {
	p := s.config.Planning.Projects[name]
	client, err := planning.New(planning.Options{
		BaseURL: s.config.Planning.BaseURL, Project: mapping.ObjectID(p.ID), Secret: p.Secret.Reveal(),
		Timeout: preflight.RequestTimeout, ReadRetries: 1, Logger: s.log,
	})
	if err != nil {
		return nil, err
	}
	return adapters.PreflightPlanning{Client: client}, nil
}

func (s preflightServices) OpenStore(ctx context.Context, log *slog.Logger) (store.Store, error) {
	return OpenStore(ctx, s.config, log)
}

func (s preflightServices) RunningLinks(ctx context.Context, visit func(status.Link)) error {
	return s.running(ctx, visit)
}
