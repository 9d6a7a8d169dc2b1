// Package settings turns the configuration into the settings of the bridge's packages.
//
// A [Settings] value belongs to one configuration and never changes. A [Current] holds the ones in
// force, which a reload or a renamed repository replaces. Beside the bridge and package open, no
// other package knows package config.
package settings

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/bridge/webhook"
	"planbridge/config"
	"planbridge/mapping"
)

// quiet is how long a removed estimate label may be on its way to another one.
const quiet = 5 * time.Second

// Settings is the part of the configuration that a reload replaces.
type Settings struct {
	reconcile.Settings
	Config *config.Config
	Made   time.Time // when the configuration was read
	// Renamed has the present names of renamed repositories, by the configuration's lower-case
	// names.
	Renamed map[string]string
	// Identities are those of routes by their names, see [mapping.Route.Identity].
	Identities map[string]string
	// Trust has the webhook secrets that are accepted for each repository.
	Trust *webhook.Trust
}

// New returns the settings of a configuration that was read at a moment.
func New(c *config.Config, dryRun bool, made time.Time) *Settings {
	users := make(map[string]string, len(c.Users))
	for login, username := range c.Users {
		users[strings.ToLower(login)] = username
	}
	routes := make([]mapping.Route, len(c.Routes))
	for i := range c.Routes {
		routes[i] = route(c, &c.Routes[i])
	}
	return &Settings{Config: c, Made: made, Trust: trust(c, nil), Settings: reconcile.Settings{
		Routes:     mapping.NewRoutes(routes, planningProjects(c)...),
		Scheme:     mapping.LabelScheme{Prefix: c.Labels.Prefix, InProgress: c.Labels.InProgress, Estimate: c.Labels.Estimate, Hours: c.Labels.Hours, Card: c.Labels.Card},
		Keys:       mapping.NewKeys(revealed(c.MarkerKeys)...),
		Users:      users,
		WebURL:     webURL(c.GitHub.APIURL),
		DryRun:     dryRun,
		Settle:     reconcile.PerSide{GitHub: c.GitHub.Settle, Planning: c.Planning.Settle},
		Confirm:    reconcile.PerSide{GitHub: c.GitHub.CatchUpInterval, Planning: c.Planning.TaskSweepInterval},
		Brakes:     reconcile.Brakes{CreatesPerMinute: c.Brakes.CreatesPerMinute, ClosesPerMinute: c.Brakes.ClosesPerMinute},
		EnterDelay: c.GitHub.EnterDelay, Coalesce: c.Coalesce, Quiet: quiet,
	}}
}

// Read returns the settings of a configuration for a command, which is no service.
func Read(c *config.Config) *Settings { return New(c, false, time.Time{}) }

// HasRights reports whether the configuration gives a login rights: it is one of the users or a
// former account of the bridge.
func (s *Settings) HasRights(login string) bool {
	if _, ok := s.Users[strings.ToLower(login)]; ok {
		return true
	}
	return slices.ContainsFunc(s.Config.GitHub.FormerAccounts, func(former string) bool { return strings.EqualFold(former, login) })
}

// webURL is the root of the pages of the GitHub behind an API root. It is github.com for
// api.github.com, and the host itself for an Enterprise Server.
func webURL(api string) string {
	u, err := url.Parse(api)
	if err != nil {
		return api // the configuration was validated, and only a page's link depends on it
	}
	u.Host = strings.TrimPrefix(u.Host, "api.")
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/api/v3")
	return strings.TrimSuffix(u.String(), "/")
}

func revealed(secrets []config.Secret) [][]byte {
	out := make([][]byte, len(secrets))
	for i, s := range secrets {
		out[i] = []byte(s.Reveal())
	}
	return out
}
