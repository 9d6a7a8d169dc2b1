package bridge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"planbridge/bridge/catchup"
	"planbridge/bridge/identity"
	"planbridge/bridge/operator"
	"planbridge/bridge/planning"
	"planbridge/bridge/poll"
	"planbridge/bridge/preflight"
	"planbridge/bridge/retention"
	"planbridge/mapping"
)

// needs tells the retention what the App needs still.
type needs struct{ app *App }

// Rules are those of the configuration.
func (n needs) Rules() retention.Rules {
	c := n.app.set.Load().config
	return retention.Rules{Ledger: c.LedgerRetention, Archive: c.LedgerArchive}
}

// RetireMilestones is that of the reconciler.
func (n needs) RetireMilestones(ctx context.Context, project mapping.ObjectID) error {
	return n.app.reconcile.RetireMilestones(ctx, project)
}

// Families are the documents that are named after repositories, logins, routes and
// hooks, of which there are ever new ones, and what needs each:
//
//   - What a repository's name stands for, and how far it was looked through, while a
//     route is for the name or a link carries it. Without it whoever takes the name is
//     believed, and only a name that leads to nothing of ours may be given up so.
//   - Whom a login stands for, while it has rights.
//   - When a route began to run, while it is configured or a link is of it. One that
//     comes back later begins anew, as it does for cards.
//   - That a route is paused, until it is resumed, and that it was told of quarantine.
//   - How far a hook was looked through, while GitHub keeps deliveries from then.
func (n needs) Families(ctx context.Context, carried retention.Names) []retention.Family {
	a := n.app
	set := a.set.Load()
	there := a.there(ctx, set)
	repository := func(_ context.Context, name string) (bool, error) {
		return carried.Repositories[strings.ToLower(name)] || there(name), nil
	}
	login := func(_ context.Context, name string) (bool, error) {
		own, _ := a.github.Known() // while that is not known, any login may be ours
		return own == "" || githubRoutes{a}.HasRights(name), nil
	}
	route := func(_ context.Context, name string) (bool, error) { return set.Routes.ByName(name) != nil, nil }
	paused := func(ctx context.Context, name string) (bool, error) {
		since, err := a.Operator().PausedSince(ctx, name)
		return err != nil || !since.IsZero() || set.Routes.ByName(name) != nil, nil
	}
	began := func(_ context.Context, name string) (bool, error) {
		name = catchup.RouteOf(name)
		return carried.Routes[name] || set.Routes.ByName(name) != nil, nil
	}
	out := []retention.Family{
		{Prefix: identity.DocRepository(""), Needed: repository},
		{Prefix: identity.DocLogin(""), Needed: login},
		{Prefix: preflight.DocQuarantine(""), Needed: route},
		{Prefix: operator.DocPaused(""), Needed: paused},
		{Prefix: catchup.HookDocs, Needed: a.catchUp.HookNeeded},
	}
	for _, prefix := range catchup.RepositoryDocs() {
		out = append(out, retention.Family{Prefix: prefix, Needed: repository})
	}
	for _, project := range set.Routes.Projects() {
		out = append(out, retention.Family{Project: project, Prefix: catchup.RouteDocs, Needed: began})
	}
	return out
}

// there tells which names of repositories the configuration needs. Those are the names that
// exact routes have, and had before a rename. Of the names that a glob means it needs those
// that GitHub shows, or all where GitHub shows none.
func (a *App) there(ctx context.Context, set *settings) func(name string) bool {
	needed := map[string]bool{}
	unseen := map[*mapping.Route]bool{}
	for configured := range set.renamed {
		needed[configured] = true
	}
	for _, route := range set.Routes.All() {
		for _, name := range route.Named() {
			needed[strings.ToLower(name)] = true
		}
		for _, glob := range route.Globs() {
			owner, _, _ := strings.Cut(glob, "/")
			repos, err := a.github.OrgRepositories(ctx, owner)
			unseen[route] = unseen[route] || err != nil
			for _, r := range repos {
				if route.MatchesRepo(r.FullName) {
					needed[strings.ToLower(r.FullName)] = true
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

// Items are the cards and tasks of a project that polls remember. Those are needed that
// a listing shows; a task, too, that a link keeps the same, as the backlog shows none.
// Where planning does not list everything now, the next pass looks.
func (n needs) Items(ctx context.Context, project mapping.ObjectID, carried retention.Names) ([]retention.Items, error) {
	p := n.app.projects.get(project)
	if p == nil {
		return nil, nil // not configured: nothing is remembered of it any more
	}
	cards, tasks, err := planning.ListItems(ctx, p.side.PlanningClient)
	if err != nil {
		n.app.log.Info("what is remembered of items that are gone is looked through another day", "project", project, "err", err)
		return nil, ctx.Err()
	}
	gone := func(err error) (bool, error) {
		if errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone) {
			return true, nil
		}
		return false, err
	}
	return []retention.Items{{
		Set:    poll.SetCards,
		Needed: func(id mapping.ObjectID) bool { return cards[id] },
		Gone: func(ctx context.Context, id mapping.ObjectID) (bool, error) {
			_, err := p.side.Card(ctx, id)
			return gone(err)
		},
		Forget: func(id mapping.ObjectID) { p.poller.Forget(poll.SetCards, id) },
	}, {
		Set:    poll.SetTasks,
		Needed: func(id mapping.ObjectID) bool { return tasks[id] || carried.Tasks[id] },
		Gone: func(ctx context.Context, id mapping.ObjectID) (bool, error) {
			_, err := p.side.Task(ctx, id)
			return gone(err)
		},
		Forget: func(id mapping.ObjectID) { p.poller.Forget(poll.SetTasks, id) },
	}}, nil
}

// seenCards are the cards of a project that polls remember.
func (a *App) seenCards(ctx context.Context, project mapping.ObjectID) (cards []mapping.ObjectID, err error) {
	marks, err := a.store.Marks(ctx, project, poll.SetCards)
	for _, id := range slices.Sorted(maps.Keys(marks)) {
		cards = append(cards, mapping.ObjectID(id))
	}
	return cards, err
}
