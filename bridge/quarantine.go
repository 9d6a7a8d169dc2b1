package bridge

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"planbridge/bridge/preflight"
	"planbridge/mapping"
	"planbridge/store"
)

// quarantineUnsaid reports whether strangers' issues wait by default: neither the
// route nor the file's defaults say anything.
func (s *settings) quarantineUnsaid(route *mapping.Route) bool {
	return route.AllowPublic && route.Quarantine == mapping.QuarantineAuto && !s.config.SaysQuarantine(route.Name)
}

// docQuarantine names the document that says that an operator was told of a route.
func docQuarantine(route string) string { return "quarantine:" + route }

// tellQuarantine warns once of each route whose public repositories have a
// quarantine that its configuration does not speak of.
func (a *App) tellQuarantine(ctx context.Context) error {
	set := a.set.Load()
	for _, route := range set.Routes.All() {
		if !set.quarantineUnsaid(route) {
			continue
		}
		_, err := a.store.Doc(ctx, "", docQuarantine(route.Name))
		if err == nil {
			continue
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		public, err := a.anyPublic(ctx, route)
		if err != nil && !mapping.Refused(err) {
			return err
		}
		if !public {
			continue
		}
		a.log.Warn("anybody can open issues on a public repository; "+preflight.QuarantineAdvice, "route", route.Name, "repository", strings.Join(route.Repositories, ", "))
		if err := a.store.PutDoc(ctx, "", docQuarantine(route.Name), []byte("told")); err != nil {
			return err
		}
	}
	return nil
}

// anyPublic reports whether anybody can read a repository of the route.
func (a *App) anyPublic(ctx context.Context, route *mapping.Route) (bool, error) {
	var failed error
	for _, name := range route.Named() {
		private, err := a.github.Private(ctx, name)
		if err == nil && !private {
			return true, nil
		}
		failed = cmp.Or(failed, err)
	}
	for _, glob := range route.Globs() {
		owner, _, _ := strings.Cut(glob, "/")
		repos, err := a.github.OrgRepositories(ctx, owner)
		for _, r := range repos {
			if !r.Private && route.MatchesRepo(r.FullName) {
				return true, nil
			}
		}
		failed = cmp.Or(failed, err)
	}
	return false, failed
}
