package bridge

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"planbridge/bridge/adapters"
	"planbridge/bridge/github"
	"planbridge/bridge/planning"
	"planbridge/bridge/preflight"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
)

// Running visits the links of the service that runs with a configuration; an error says
// why there was none that answered.
type Running func(ctx context.Context, visit func(status.Link)) error

// Check proves a configuration against the live services, see [preflight.Check]. Where
// another process has the store, running tells of its links. hookURL is where webhooks that
// are missing are to lead; "" makes none.
func Check(ctx context.Context, c *config.Config, hookURL string, running Running, log *slog.Logger) []preflight.Finding {
	plan := newSettings(c, false, time.Time{}).plan()
	plan.HookURL = hookURL
	return preflight.Check(ctx, plan, preflightServices{c, running, log}, log)
}

// Expand tells the effective routes of each repository, see [preflight.Expand].
func Expand(ctx context.Context, c *config.Config, log *slog.Logger) ([]preflight.Expanded, error) {
	return preflight.Expand(ctx, newSettings(c, false, time.Time{}).plan(), preflightServices{config: c, log: log})
}

// RouteChanges compares the routes that a service runs with with those of a configuration.
func RouteChanges(running []mapping.Route, c *config.Config) mapping.RouteChanges {
	return mapping.NewRoutes(running).ChangesTo(newSettings(c, false, time.Time{}).Routes)
}

// Configuration is that of [preflight.Source].
func (s preflightSource) Configuration() (*preflight.Plan, preflight.Services, any) {
	set := s.set.Load()
	return set.plan(), preflightServices{config: set.config, log: s.log}, set.config
}

// preflightSource tells the prover which configuration is in force.
type preflightSource struct {
	set *current
	log *slog.Logger
}

// plan is what of the settings can be proven.
func (s *settings) plan() *preflight.Plan {
	c := s.config
	file, ok := c.Store.File()
	if !ok {
		file = ""
	}
	p := &preflight.Plan{
		Routes: s.Routes, Scheme: s.Scheme, Projects: map[string]preflight.Project{}, Store: preflight.Store{File: file, Name: c.Store.Redacted()},
		Trust: &c.GitHub, FormerAccounts: c.GitHub.FormerAccounts, IsApp: c.GitHub.App != nil, CatchUpInterval: c.GitHub.CatchUpInterval,
		QuarantineUnsaid: map[string]bool{}, Origins: map[string]string{},
	}
	for name, project := range c.Planning.Projects {
		p.Projects[name] = preflight.Project{ID: mapping.ObjectID(project.ID), Username: project.Username}
	}
	for _, w := range c.Weaknesses() {
		p.Weaknesses = append(p.Weaknesses, preflight.Weakness(w))
	}
	for _, w := range c.GitHub.Webhooks {
		p.Webhooks = append(p.Webhooks, w.Repositories)
	}
	for _, r := range s.Routes.All() {
		p.QuarantineUnsaid[r.Name] = s.quarantineUnsaid(r)
	}
	for i := range c.Routes {
		if r := &c.Routes[i]; r.File != "" {
			p.Origins[r.Name] = fmt.Sprintf("%s:%d", r.File, r.Line)
		}
	}
	return p
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
