package bridge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"planbridge/bridge/catchup"
	"planbridge/bridge/identity"
	"planbridge/mapping"
)

// follow takes in that a repository has another name: a route that names the former one
// exactly follows it. Where a route has the new name already, the links follow that soon.
func (a *App) follow(ctx context.Context, from, to string) error {
	if strings.EqualFold(from, to) || from == "" || to == "" {
		return nil
	}
	a.setMu.Lock()
	defer a.setMu.Unlock()
	set := a.set.Load()
	names, changed := map[string]string{}, false
	for i := range set.config.Routes {
		for _, configured := range set.config.Routes[i].Patterns() {
			now := configured
			if known, ok := set.renamed[strings.ToLower(configured)]; ok {
				now = known
			}
			if strings.EqualFold(now, from) {
				now, changed = to, true
				a.log.Warn("a repository was renamed: its route follows it until the configuration names it as it is called now", "route", set.config.Routes[i].Name, "configured", configured, "repo", to)
			}
			if !strings.EqualFold(now, configured) {
				names[strings.ToLower(configured)] = now
			}
		}
	}
	if !changed {
		a.requeue.Renamed(from, to)
		return nil
	}
	if err := catchup.Rename(ctx, a.store, from, to); err != nil {
		return fmt.Errorf("rename %s: %w", from, err)
	}
	if err := identity.PutRenames(ctx, a.store, names); err != nil {
		return err
	}
	a.set.Store(set.withNames(names))
	return nil
}

// followRenames takes over what this or another replica has learned of names.
// What the configuration names no more is forgotten.
func (a *App) followRenames(ctx context.Context) error {
	names, err := identity.Renames(ctx, a.store)
	if names == nil || err != nil {
		return err
	}
	a.setMu.Lock()
	defer a.setMu.Unlock()
	set := a.set.Load()
	next := set.withNames(names)
	if maps.Equal(next.renamed, set.renamed) && len(names) == len(next.renamed) {
		return nil
	}
	for was, now := range mapping.Sorted(next.renamed) {
		if set.renamed[was] != now {
			a.log.Warn("a route names a repository as it was called before: it follows it", "configured", was, "repo", now)
		}
	}
	a.set.Store(next)
	if len(names) == len(next.renamed) {
		return nil
	}
	return identity.PutRenames(ctx, a.store, next.renamed)
}

// withNames returns the settings with the routes of renamed repositories at
// their names of now.
func (s *settings) withNames(names map[string]string) *settings {
	next := *s
	next.renamed = map[string]string{}
	routes := make([]mapping.Route, len(s.config.Routes))
	for i := range s.config.Routes {
		r := route(s.config, &s.config.Routes[i])
		for j, repository := range r.Repositories {
			configured := strings.ToLower(repository)
			if now, ok := names[configured]; ok && !mapping.IsGlob(repository) {
				r.Repositories[j], next.renamed[configured] = now, now
			}
		}
		if now, ok := names[strings.ToLower(r.NewCardsIn)]; ok {
			r.NewCardsIn = now
		}
		routes[i] = r
	}
	next.Routes = mapping.NewRoutes(routes, planningProjects(s.config)...)
	next.trust = trust(s.config, next.renamed)
	return &next
}

// githubRoutes is the program as the GitHub adapter sees it.
type githubRoutes struct{ a *App }

// HasRoute reports whether a route is for a repository's name, as it is called now or as
// the configuration has it.
func (h githubRoutes) HasRoute(name string) bool {
	set := h.a.set.Load()
	_, renamed := set.renamed[strings.ToLower(name)]
	return renamed || len(set.Routes.ForRepo(name)) > 0
}

func (h githubRoutes) Renamed(ctx context.Context, from, to string) error {
	return h.a.follow(ctx, from, to)
}

// HasRights reports whether a login has rights by the configuration, or is the bridge's
// own.
func (h githubRoutes) HasRights(login string) bool {
	set := h.a.set.Load()
	if _, ok := set.Users[strings.ToLower(login)]; ok {
		return true
	}
	for _, former := range set.config.GitHub.FormerAccounts {
		if strings.EqualFold(former, login) {
			return true
		}
	}
	own, _ := h.a.github.Known()
	return own != "" && strings.EqualFold(own, login)
}

// LoginChanged says that somebody of the configuration has another login. The
// bridge's own account is asked for anew.
func (h githubRoutes) LoginChanged(ctx context.Context, was, login string) {
	if !h.a.account.LoginChanged(ctx, was) && h.HasRights(was) {
		h.a.log.Warn("an account has another login than the configuration names: it has its rights again when that names the new one", "was", was, "login", login)
	}
}

func (h githubRoutes) AnsweredAs(ctx context.Context, login string) {
	h.a.account.AnsweredAs(ctx, login)
}

// recallIdentities reads what the names of the configuration stand for: the repositories of
// exact routes and the logins of people.
func (a *App) recallIdentities(ctx context.Context) error {
	set := a.set.Load()
	var names []string
	for _, route := range set.Routes.All() { // as they are called now: those come first
		names = append(names, route.Named()...)
	}
	for configured := range mapping.Sorted(set.renamed) {
		names = append(names, configured)
	}
	for _, name := range names {
		if err := a.github.Registry.Recall(ctx, name); err != nil {
			return err
		}
	}
	logins := slices.Concat(slices.Sorted(maps.Keys(set.Users)), set.config.GitHub.FormerAccounts)
	return a.github.People.Recall(ctx, logins...)
}
