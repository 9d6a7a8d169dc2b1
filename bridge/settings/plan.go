package settings

import (
	"fmt"

	"planbridge/bridge/preflight"
	"planbridge/mapping"
)

// Plan is the part of the settings that can be proven.
func (s *Settings) Plan() *preflight.Plan {
	c := s.Config
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
	for _, d := range c.Doubts() {
		p.Doubts = append(p.Doubts, preflight.Doubt(d))
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

// quarantineUnsaid reports whether strangers' issues wait by default, as neither the route nor the
// file's defaults set it.
func (s *Settings) quarantineUnsaid(route *mapping.Route) bool {
	return route.AllowPublic && route.Quarantine == mapping.QuarantineAuto && !s.Config.SaysQuarantine(route.Name)
}
