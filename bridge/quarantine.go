package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// Released reports whether a person let an issue out of quarantine: its events
// tell who labelled and assigned it. An issue whose events GitHub refuses to show
// stays in.
func (g *githubSide) Released(ctx context.Context, issue *mapping.Issue) (bool, error) {
	if issue.Untriaged() {
		return false, nil
	}
	released, err := g.FindTriage(ctx, issue.Repo, issue.Number, func(t mapping.Triage) bool {
		return issue.ReleasedBy(t, g.Whose(t.Actor))
	})
	if mapping.Refused(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list events of %s: %w", nameOf(issue), err)
	}
	return released, nil
}

// quarantineUnsaid reports whether strangers' issues wait by default: neither the
// route nor the file's defaults say anything.
func (s *settings) quarantineUnsaid(route *mapping.Route) bool {
	return route.AllowPublic && route.Quarantine == mapping.QuarantineAuto && !s.config.SaysQuarantine(route.Name)
}

// quarantineWords says what an operator has to know of a route with a public
// repository whose configuration was written before there was a quarantine.
const quarantineWords = "issues of strangers wait in quarantine until a person with triage rights labels or assigns them: " +
	"issues.quarantine says auto to confirm that, off to let them in at once"

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
		a.log.Warn("anybody can open issues on a public repository; "+quarantineWords, "route", route.Name, "repository", strings.Join(route.Repositories, ", "))
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

// Outside reads an issue that no link knows and says why it has none. Where that
// cannot be told, the issue is just not found.
func (o *Operator) Outside(ctx context.Context, name string) (*status.Outside, error) {
	repo, num, isIssue := strings.Cut(name, "#")
	number, err := strconv.Atoi(num)
	if !isIssue || err != nil || len(o.set().Routes.ForRepo(repo)) == 0 {
		return nil, fmt.Errorf("link of %s: %w", name, store.ErrNotFound)
	}
	ctx, cancel := context.WithTimeout(ctx, previewPatience)
	defer cancel()
	out, err := o.outside(ctx, repo, number)
	switch {
	case mapping.Refused(err):
		return nil, fmt.Errorf("link of %s: %w", name, store.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("link of %s: %w; GitHub was not asked why: %w", name, store.ErrNotFound, err)
	}
	return out, nil
}

func (o *Operator) outside(ctx context.Context, repo string, number int) (*status.Outside, error) {
	hub, done, err := o.hub()
	if err != nil {
		return nil, err
	}
	defer done()
	issue, err := hub.Issue(ctx, repo, number)
	if err != nil {
		return nil, err
	}
	why, err := o.whyOutside(ctx, hub, &issue)
	if err != nil {
		return nil, err
	}
	return &status.Outside{Repository: issue.Repo, Number: issue.Number, Author: issue.Author, Association: issue.Association, Why: why}, nil
}

func (o *Operator) whyOutside(ctx context.Context, hub *githubSide, issue *mapping.Issue) (string, error) {
	set := o.set()
	private, err := hub.Private(ctx, issue.Repo)
	if err != nil {
		return "", fmt.Errorf("ask whether %s is public: %w", issue.Repo, err)
	}
	e := mapping.Entrance{Scheme: set.Scheme, Own: set.Keys.Made(issue, hub.Whose(issue.Author)), Public: !private, FirstRun: o.firstRun}
	route, why := set.Routes.Entering(issue, e)
	if why == mapping.WhyQuarantine {
		if e.Released, err = hub.Released(ctx, issue); err != nil {
			return "", err
		}
		route, why = set.Routes.Entering(issue, e)
	}
	if route != nil {
		return "nothing keeps it out: its delivery or the next catch-up lets it in by route " + route.Name, nil
	}
	return why, nil
}
