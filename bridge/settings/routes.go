package settings

import (
	"strings"

	"planbridge/bridge/webhook"
	"planbridge/config"
	"planbridge/mapping"
)

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

// WithNames returns the settings with the present names of renamed repositories in the routes.
func (s *Settings) WithNames(names map[string]string) *Settings {
	next := *s
	next.Renamed = map[string]string{}
	routes := make([]mapping.Route, len(s.Config.Routes))
	for i := range s.Config.Routes {
		r := route(s.Config, &s.Config.Routes[i])
		for j, repository := range r.Repositories {
			configured := strings.ToLower(repository)
			if now, ok := names[configured]; ok && !mapping.IsGlob(repository) {
				r.Repositories[j], next.Renamed[configured] = now, now
			}
		}
		if now, ok := names[strings.ToLower(r.NewCardsIn)]; ok {
			r.NewCardsIn = now
		}
		r.ID = s.Identities[r.Name]
		routes[i] = r
	}
	next.Routes = mapping.NewRoutes(routes, planningProjects(s.Config)...)
	next.Trust = trust(s.Config, next.Renamed)
	return &next
}

// WithIdentities returns the settings with routes of those identities, by their names.
func (s *Settings) WithIdentities(ids map[string]string) *Settings {
	next := *s
	next.Identities = ids
	return next.WithNames(s.Renamed)
}

// Follow returns the names for WithNames once a repository has another name. The result followed
// has the patterns of exact routes that follow it, by the routes' names; it is empty where none has
// the former name.
func (s *Settings) Follow(from, to string) (names, followed map[string]string) {
	names, followed = map[string]string{}, map[string]string{}
	for i := range s.Config.Routes {
		route := &s.Config.Routes[i]
		for _, configured := range route.Patterns() {
			now := configured
			if known, ok := s.Renamed[strings.ToLower(configured)]; ok {
				now = known
			}
			if strings.EqualFold(now, from) {
				now, followed[route.Name] = to, configured
			}
			if !strings.EqualFold(now, configured) {
				names[strings.ToLower(configured)] = now
			}
		}
	}
	return names, followed
}

// HasRoute reports whether a route is for a repository's name, the present one or the configured
// one.
func (s *Settings) HasRoute(name string) bool {
	_, renamed := s.Renamed[strings.ToLower(name)]
	return renamed || len(s.Routes.ForRepo(name)) > 0
}

// trust returns the webhook secrets that are accepted for each repository, by the present names of
// renamed ones.
func trust(c *config.Config, renamed map[string]string) *webhook.Trust {
	var groups []webhook.SecretGroup
	for _, w := range c.GitHub.Webhooks {
		groups = append(groups, webhook.SecretGroup{Repositories: w.Repositories, Secrets: revealed(w.Secrets)})
	}
	return webhook.NewTrust(groups, revealed(c.GitHub.WebhookSecrets), renamed)
}
