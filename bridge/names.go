package bridge

import (
	"context"
	"maps"
	"slices"
	"strings"

	"planbridge/mapping"
)

// githubRoutes is the program as the GitHub adapter sees it.
type githubRoutes struct{ a *App }

func (h githubRoutes) HasRoute(name string) bool { return h.a.set.Load().HasRoute(name) }

func (h githubRoutes) Renamed(ctx context.Context, from, to string) error {
	return h.a.renames.Follow(ctx, from, to)
}

// HasRights reports whether a login has rights by the configuration, or is the bridge's
// own.
func (h githubRoutes) HasRights(login string) bool {
	if h.a.set.Load().HasRights(login) {
		return true
	}
	own, _ := h.a.github.Known()
	return own != "" && strings.EqualFold(own, login)
}

// LoginChanged records the new login of somebody in the configuration. The App asks GitHub anew for
// the bridge's own account.
func (h githubRoutes) LoginChanged(ctx context.Context, was, login string) {
	if !h.a.account.LoginChanged(ctx, was) && h.HasRights(was) {
		h.a.log.Warn("an account has another login than the configuration names: it has its rights again when that names the new one", "was", was, "login", login)
	}
}

func (h githubRoutes) AnsweredAs(ctx context.Context, login string) {
	h.a.account.AnsweredAs(ctx, login)
}

// recallIdentities reads the stored ids of the configuration's names: the repositories of exact
// routes and the logins of people.
func (a *App) recallIdentities(ctx context.Context) error {
	set := a.set.Load()
	var names []string
	for _, route := range set.Routes.All() { // present names come first
		names = append(names, route.Named()...)
	}
	for configured := range mapping.Sorted(set.Renamed) {
		names = append(names, configured)
	}
	for _, name := range names {
		if err := a.github.Registry.Recall(ctx, name); err != nil {
			return err
		}
	}
	logins := slices.Concat(slices.Sorted(maps.Keys(set.Users)), set.Config.GitHub.FormerAccounts)
	return a.github.People.Recall(ctx, logins...)
}
