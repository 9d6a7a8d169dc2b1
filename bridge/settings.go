package bridge

import (
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"planbridge/bridge/budgets"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/webhook"
	"planbridge/config"
	"planbridge/mapping"
)

// quiet is how long a removed estimate label may be on its way to another one.
const quiet = 5 * time.Second

// settings is the part of the configuration that a reload replaces.
type settings struct {
	reconcile.Settings
	config *config.Config
	made   time.Time
	// renamed says what repositories of the configuration are called now.
	renamed map[string]string
	trust   *webhook.Trust
}

// current holds the settings, which a reload replaces.
type current struct{ atomic.Pointer[settings] }

// Settings is the part that decides.
func (c *current) Settings() *reconcile.Settings { return &c.Load().Settings }

// newSettings are those of a configuration that was read at a moment.
func newSettings(c *config.Config, dryRun bool, made time.Time) *settings {
	users := make(map[string]string, len(c.Users))
	for login, username := range c.Users {
		users[strings.ToLower(login)] = username
	}
	routes := make([]mapping.Route, len(c.Routes))
	for i := range c.Routes {
		routes[i] = route(c, &c.Routes[i])
	}
	return &settings{config: c, made: made, trust: trust(c, nil), Settings: reconcile.Settings{
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

// importShare is the part of GitHub's write budget that imports may take (see
// [store.Ask]): two thirds, so that live changes never wait long for theirs.
func importShare(writes int) int { return max(1, writes*2/3) }

// Forecast is how long GitHub's budgets make so many new issues and other writes of imports
// take, and which key bounds it.
func (c *current) Forecast(issues, edits int) (takes time.Duration, bound string) {
	hub := c.Load().config.GitHub
	for _, b := range []struct {
		key       string
		n, writes int
		per       time.Duration
	}{
		{"github.writes_per_minute", issues, hub.WritesPerMinute, time.Minute},
		{"github.writes_per_hour", issues, hub.WritesPerHour, time.Hour},
		{"github.edits_per_minute", edits, hub.EditsPerMinute, time.Minute},
	} {
		if d := time.Duration(b.n) * b.per / time.Duration(importShare(b.writes)); d > takes {
			takes, bound = d, b.key
		}
	}
	return takes, bound
}

// Routes are those that hold now.
func (c *current) Routes() mapping.Routes { return c.Load().Routes }

// Projects are those that the configuration names.
func (c *current) Projects() []mapping.ObjectID { return c.Load().Routes.Projects() }

// WriteLimits are how much may be written to GitHub.
func (c *current) WriteLimits() budgets.Limits {
	hub := c.Load().config.GitHub
	return budgets.Limits{ContentPerMinute: hub.WritesPerMinute, ContentPerHour: hub.WritesPerHour, EditsPerMinute: hub.EditsPerMinute}
}

// VerifyInterval is how often all links are verified; 0: by hand only.
func (c *current) VerifyInterval() time.Duration { return c.Load().config.VerifyInterval }

func planningProjects(c *config.Config) (out []mapping.PlanningProject) {
	for name, p := range mapping.Sorted(c.Planning.Projects) {
		out = append(out, mapping.PlanningProject{ID: mapping.ObjectID(p.ID), Name: name, Username: p.Username})
	}
	return out
}

func route(c *config.Config, r *config.Route) mapping.Route {
	project := c.Planning.Projects[r.Project]
	out := mapping.Route{
		Name: r.Name, Repositories: r.Patterns(), Exclude: r.Exclude,
		Project: mapping.ObjectID(project.ID), ProjectName: r.Project, Username: project.Username,
		Bucket: r.Bucket, Labels: r.Issues.Labels, ExcludeLabels: r.Issues.ExcludeLabels, Authors: r.Issues.Authors, Quarantine: r.Issues.Quarantine,
		Direction: mapping.Direction(r.Direction), AllowPublic: r.AllowPublic, CreateIssues: r.CreateIssues, NewCardsIn: r.NewCardsIn,
		Tasks: r.Tasks, TasksPerCard: r.TasksPerCard, Images: mapping.Images(r.Images), TrackingTask: r.TrackingTask, Force: r.Force, Policies: map[mapping.Attribute]mapping.Policy{},
	}
	for _, label := range r.BucketLabels {
		out.BucketByLabel = append(out.BucketByLabel, mapping.LabelBucket{Label: label, Bucket: r.BucketByLabel[label]})
	}
	for attribute, policy := range r.Conflicts {
		if attribute == "default" {
			out.DefaultPolicy = mapping.Policy(policy)
			continue
		}
		out.Policies[mapping.Attribute(attribute)] = mapping.Policy(policy)
	}
	return out
}

// webURL is where the pages of the GitHub behind an API root are: github.com
// for api.github.com, the host itself for an Enterprise Server.
func webURL(api string) string {
	u, err := url.Parse(api)
	if err != nil {
		return api // the configuration was validated; a page's link is the least of it
	}
	u.Host = strings.TrimPrefix(u.Host, "api.")
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/api/v3")
	return strings.TrimSuffix(u.String(), "/")
}

// trust is which webhook secrets are believed about which repositories, of which some
// are called otherwise than in the configuration.
func trust(c *config.Config, renamed map[string]string) *webhook.Trust {
	var groups []webhook.SecretGroup
	for _, w := range c.GitHub.Webhooks {
		groups = append(groups, webhook.SecretGroup{Repositories: w.Repositories, Secrets: revealed(w.Secrets)})
	}
	return webhook.NewTrust(groups, revealed(c.GitHub.WebhookSecrets), renamed)
}

func revealed(secrets []config.Secret) [][]byte {
	out := make([][]byte, len(secrets))
	for i, s := range secrets {
		out[i] = []byte(s.Reveal())
	}
	return out
}

// quarantineUnsaid reports whether strangers' issues wait by default: neither the
// route nor the file's defaults say anything.
func (s *settings) quarantineUnsaid(route *mapping.Route) bool {
	return route.AllowPublic && route.Quarantine == mapping.QuarantineAuto && !s.config.SaysQuarantine(route.Name)
}
