package bridge

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"planbridge/bridge/catchup"
	"planbridge/bridge/clock"
	"planbridge/bridge/factlog"
	"planbridge/bridge/github"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/config"
	"planbridge/mapping"
)

func (a *App) buildCatchUp(c *config.Config) {
	lists := &githubLists{a.github}
	var hooks catchup.Hooks
	if !a.o.DryRun {
		hooks = lists // asking for a delivery again is a write
	}
	a.catchUp = catchup.New(catchup.Options{
		GitHub: lists, Hooks: hooks, App: c.GitHub.App != nil, RedeliverInterval: a.o.RedeliverInterval, Intake: a.intake, Store: &notifyingStore{a.store, a},
		Settings: catchUpHost{a}, Host: catchUpHost{a}, Owner: a.owner, Clock: clock.New(a.o.Now, a.o.Random),
		Interval: c.GitHub.CatchUpInterval, Settle: c.GitHub.Settle, Logger: a.log, Guard: a.guard,
	})
}

// catchUpHost is the program as the catch-up sees it.
type catchUpHost struct{ a *App }

func (h catchUpHost) Routes() mapping.Routes          { return h.a.set.Load().Routes }
func (h catchUpHost) FirstRun(route string) time.Time { return h.a.firstRuns.ByGitHub(route) }
func (h catchUpHost) LostAt() time.Time               { return h.a.lost.Lost() }
func (h catchUpHost) Answered(ctx context.Context)    { h.a.listed(ctx) }
func (h catchUpHost) Failed(error)                    {} // the catch-up logged it

// listed follows a catch-up that GitHub answered: what waits for it goes on,
// and projects that waited for GitHub's side to be looked through are adopted.
func (a *App) listed(ctx context.Context) {
	a.monitor.Heard(reconcile.ServiceGitHub, status.SourceCatchUp)
	a.log.Info("GitHub is listed again", factlog.Over, "GitHub is not listed")
	a.process.CaughtUp(a.o.Now())
	a.requeue.WakeGitHub(ctx)
	a.requeue.WakeRepositories(ctx)
	a.requeue.TakeUpPrivate(ctx)
	for _, p := range a.projects.all() {
		if err := p.poller.Adopt(ctx); err != nil {
			a.log.Warn("adopting after a catch-up", "err", err)
		}
	}
}

// githubLists fits the GitHub adapter to the catch-up.
type githubLists struct {
	*githubAdapter
}

// ListIssues lists the issues of the repository that a name stands for. A page is handed
// on after GitHub said, later than it was asked for, that the name still stands for it.
func (g *githubLists) ListIssues(ctx context.Context, repo string, q catchup.Query, page func([]mapping.Issue, time.Time) error) (bool, error) {
	o := github.ListOptions{Since: q.Since, State: "all", Creator: q.Creator, Unconditional: q.Afresh}
	asked := time.Now()
	seen, err := g.Client.ListIssues(ctx, repo, o, func(issues []mapping.Issue, date time.Time) error {
		if len(issues) > 0 {
			now, err := g.Locate(ctx, repo, asked)
			switch {
			case mapping.Refused(err) && !errors.As(err, new(*mapping.StrangerError)): // as for a round
			case err != nil:
				return err
			case !strings.EqualFold(now, repo):
				return &mapping.MovedError{Repo: now, Location: now}
			}
		}
		for i := range issues {
			issues[i] = g.identify(ctx, issues[i])
		}
		err := page(issues, date)
		asked = time.Now()
		return err
	})
	return seen.NotModified, err
}

// Locate returns what the repository that a name stands for is called, as GitHub told
// at a moment or later.
func (g *githubLists) Locate(ctx context.Context, repo string, asOf time.Time) (string, error) {
	now, err := g.repositories.Locate(ctx, repo, 0, asOf)
	if err != nil && !mapping.Refused(err) && g.repositories.ID(repo) == 0 {
		return repo, nil // nothing is remembered that it could be compared with
	}
	return now, err
}

// Repositories lists what a glob such as acme/* can mean: the repositories of
// the owner before the slash.
func (g *githubLists) Repositories(ctx context.Context, glob string) ([]string, error) {
	owner, _, _ := strings.Cut(glob, "/")
	repos, err := g.OrgRepositories(ctx, owner)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range repos {
		if g.host.HasRoute(r.FullName) {
			if err := g.repositories.Note(ctx, identified(r)); err != nil {
				return nil, err
			}
		}
		if ok, err := path.Match(strings.ToLower(glob), strings.ToLower(r.FullName)); err == nil && ok && r.HasIssues && !r.Archived {
			out = append(out, r.FullName)
		}
	}
	return out, nil
}

// githubInventory fits the GitHub adapter to the inventory.
type githubInventory struct{ *githubAdapter }

// Repositories lists what a glob means.
func (g githubInventory) Repositories(ctx context.Context, glob string) ([]string, error) {
	return (&githubLists{g.githubAdapter}).Repositories(ctx, glob)
}

// ListIssues lists all issues that are in a state, whatever changed.
func (g githubInventory) ListIssues(ctx context.Context, repo, state string, page func([]mapping.Issue) error) error {
	_, err := g.Client.ListIssues(ctx, repo, github.ListOptions{State: state, Unconditional: true}, func(issues []mapping.Issue, _ time.Time) error { return page(issues) })
	return err
}

// ListHooks and Deliveries are those of the adapter in the catch-up's words.
func (g *githubLists) ListHooks(ctx context.Context, owner string) ([]catchup.Hook, error) {
	hooks, err := g.Client.ListHooks(ctx, owner)
	out := make([]catchup.Hook, len(hooks))
	for i, h := range hooks {
		out[i] = catchup.Hook{ID: h.ID, URL: h.URL, Active: h.Active}
	}
	return out, err
}

func (g *githubLists) Deliveries(ctx context.Context, owner string, hook int64, since time.Time) ([]catchup.Delivery, error) {
	list, err := g.Client.Deliveries(ctx, owner, hook, since)
	out := make([]catchup.Delivery, len(list))
	for i, d := range list {
		out[i] = catchup.Delivery{ID: d.ID, GUID: d.GUID, Event: d.Event, At: d.DeliveredAt, Redelivery: d.Redelivery, OK: d.StatusCode/100 == 2}
	}
	return out, err
}
