package adapters

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"planbridge/bridge/catchup"
	"planbridge/bridge/github"
	"planbridge/mapping"
)

// Lists fits the GitHub adapter to the catch-up.
type Lists struct {
	*GitHub
}

// ListIssues lists the issues of the repository that a name stands for. A page is passed on after
// GitHub confirmed, later than the request, that the name still stands for it.
func (g *Lists) ListIssues(ctx context.Context, repo string, q catchup.Query, page func([]mapping.Issue, time.Time) error) (bool, error) {
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

// Locate returns the present name of the repository behind a name, as GitHub reported it at a
// moment or later.
func (g *Lists) Locate(ctx context.Context, repo string, asOf time.Time) (string, error) {
	now, err := g.Registry.Locate(ctx, repo, 0, asOf)
	if err != nil && !mapping.Refused(err) && g.Registry.ID(repo) == 0 {
		return repo, nil // there is no record to compare it with
	}
	return now, err
}

// Repositories lists the possible matches of a glob such as acme/*: the repositories of the owner
// before the slash.
func (g *Lists) Repositories(ctx context.Context, glob string) ([]string, error) {
	owner, _, _ := strings.Cut(glob, "/")
	repos, err := g.OrgRepositories(ctx, owner)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range repos {
		if g.host.HasRoute(r.FullName) {
			if err := g.Registry.Note(ctx, identified(r)); err != nil {
				return nil, err
			}
		}
		if ok, err := path.Match(strings.ToLower(glob), strings.ToLower(r.FullName)); err == nil && ok && r.HasIssues && !r.Archived {
			out = append(out, r.FullName)
		}
	}
	return out, nil
}

// Inventory fits the GitHub adapter to the inventory.
type Inventory struct{ *GitHub }

// Repositories lists the matches of a glob.
func (g Inventory) Repositories(ctx context.Context, glob string) ([]string, error) {
	return (&Lists{g.GitHub}).Repositories(ctx, glob)
}

// ListIssues lists all issues in a state.
func (g Inventory) ListIssues(ctx context.Context, repo, state string, page func([]mapping.Issue) error) error {
	_, err := g.Client.ListIssues(ctx, repo, github.ListOptions{State: state, Unconditional: true}, func(issues []mapping.Issue, _ time.Time) error { return page(issues) })
	return err
}

// ListHooks and Deliveries are those of the adapter in the catch-up's types.
func (g *Lists) ListHooks(ctx context.Context, owner string) ([]catchup.Hook, error) {
	hooks, err := g.Client.ListHooks(ctx, owner)
	return converted(hooks, func(h github.Hook) catchup.Hook { return catchup.Hook{ID: h.ID, URL: h.URL, Active: h.Active} }), err
}

// Deliveries lists the deliveries of a webhook.
func (g *Lists) Deliveries(ctx context.Context, owner string, hook int64, since time.Time) ([]catchup.Delivery, error) {
	list, err := g.Client.Deliveries(ctx, owner, hook, since)
	return converted(list, func(d github.Delivery) catchup.Delivery {
		return catchup.Delivery{ID: d.ID, GUID: d.GUID, Event: d.Event, At: d.DeliveredAt, Redelivery: d.Redelivery, OK: d.StatusCode/100 == 2}
	}), err
}
