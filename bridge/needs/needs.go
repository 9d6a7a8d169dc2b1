// Package needs says which stored documents and marks are still needed.
//
// Its entry point is [Needs], which the retention asks before it removes anything.
package needs

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"planbridge/bridge/catchup"
	"planbridge/bridge/identity"
	"planbridge/bridge/pause"
	"planbridge/bridge/preflight"
	"planbridge/bridge/renames"
	"planbridge/bridge/retention"
	"planbridge/bridge/settings"
	"planbridge/mapping"
)

// GitHub is the used part of the GitHub client.
type GitHub interface {
	// Known is the bridge's own login; "": not known yet.
	Known() (login string, how mapping.Authorship)
	// RepositoryNames lists the repositories of an account that the bridge can see.
	RepositoryNames(ctx context.Context, owner string) ([]string, error)
}

// Rights say which logins have rights.
type Rights interface {
	HasRights(login string) bool
}

// Routes has the present and former names of routes.
type Routes interface {
	NamesOf(ctx context.Context, id string) ([]string, error)
}

// Hooks reports whether the document of a hook's progress is needed.
type Hooks interface {
	HookNeeded(ctx context.Context, hook string) (bool, error)
}

// Milestones maintains a project's book of milestones.
type Milestones interface {
	RetireMilestones(ctx context.Context, project mapping.ObjectID) error
}

// Projects finds the planning projects; nil: that one is not configured.
type Projects interface {
	Remembered(project mapping.ObjectID) Project
}

// Options configure Needs. All fields are required.
type Options struct {
	Settings   *settings.Current
	GitHub     GitHub
	Rights     Rights
	Routes     Routes
	Documents  pause.Documents
	Hooks      Hooks
	Milestones Milestones
	Projects   Projects
	Logger     *slog.Logger
}

// Needs tells the retention which documents and marks are still needed. It is safe for concurrent
// use.
type Needs struct {
	Milestones
	o Options
}

var _ retention.Needs = Needs{}

// New returns Needs.
func New(o Options) Needs { return Needs{o.Milestones, o} }

// Rules are those of the configuration.
func (n Needs) Rules() retention.Rules { return n.o.Settings.Rules() }

// Families are the documents that are named after repositories, logins, routes and hooks, which
// keep coming. Each is needed by:
//
//   - What a repository's name stands for, and how far it was looked through, while a
//     route is for the name or a link carries it. Without it whoever takes the name is
//     believed, and only a name that leads to nothing of ours may be given up so.
//   - Whom a login stands for, while it has rights.
//   - When a route began to run and which names it had, while it is configured or a link
//     carries such a name. One that comes back later begins anew, as it does for cards.
//   - That a route is paused, until it is resumed, and that it was told of quarantine.
//   - How far a hook was looked through, while GitHub keeps deliveries from then.
func (n Needs) Families(ctx context.Context, carried retention.Names) []retention.Family {
	set := n.o.Settings.Load()
	there := n.configured(ctx, set)
	repository := func(_ context.Context, name string) (bool, error) {
		return carried.Repositories[strings.ToLower(name)] || there(name), nil
	}
	login := func(_ context.Context, name string) (bool, error) {
		own, _ := n.o.GitHub.Known() // while that is not known, any login may be ours
		return own == "" || n.o.Rights.HasRights(name), nil
	}
	route := func(_ context.Context, name string) (bool, error) { return set.Routes.ByName(name) != nil, nil }
	paused := func(ctx context.Context, id string) (bool, error) {
		since, err := pause.Since(ctx, n.o.Documents, id)
		return err != nil || !since.IsZero() || set.Routes.ByIdentity(id) != nil, nil
	}
	known := func(ctx context.Context, id string) (bool, error) {
		names, err := n.o.Routes.NamesOf(ctx, id)
		carries := slices.ContainsFunc(names, func(name string) bool { return carried.Routes[name] })
		return carries || set.Routes.ByIdentity(id) != nil, err
	}
	began := func(ctx context.Context, name string) (bool, error) { return known(ctx, catchup.RouteOf(name)) }
	out := []retention.Family{
		{Prefix: identity.DocRepository(""), Needed: repository},
		{Prefix: identity.DocLogin(""), Needed: login},
		{Prefix: preflight.DocQuarantine(""), Needed: route},
		{Prefix: pause.DocPaused(""), Needed: paused},
		{Prefix: renames.DocsRoute, Needed: known},
		{Prefix: catchup.HookDocs, Needed: n.o.Hooks.HookNeeded},
	}
	for _, prefix := range catchup.RepositoryDocs() {
		out = append(out, retention.Family{Prefix: prefix, Needed: repository})
	}
	for _, project := range set.Routes.Projects() {
		out = append(out, retention.Family{Project: project, Prefix: catchup.RouteDocs, Needed: began})
	}
	return out
}

// configured returns which names of repositories the configuration needs. Those are the names that
// exact routes have, and had before a rename. Of a glob's names it needs those that GitHub shows,
// or all where GitHub shows none.
func (n Needs) configured(ctx context.Context, set *settings.Settings) func(name string) bool {
	needed := map[string]bool{}
	unseen := map[*mapping.Route]bool{}
	for configured := range set.Renamed {
		needed[configured] = true
	}
	for _, route := range set.Routes.All() {
		for _, name := range route.Named() {
			needed[strings.ToLower(name)] = true
		}
		for _, glob := range route.Globs() {
			owner, _, _ := strings.Cut(glob, "/")
			names, err := n.o.GitHub.RepositoryNames(ctx, owner)
			unseen[route] = unseen[route] || err != nil
			for _, name := range names {
				if route.MatchesRepo(name) {
					needed[strings.ToLower(name)] = true
				}
			}
		}
	}
	return func(name string) bool {
		if needed[strings.ToLower(name)] {
			return true
		}
		for route, unseen := range unseen {
			if unseen && route.MatchesRepo(name) {
				return true
			}
		}
		return false
	}
}
