package explain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"planbridge/bridge/identity"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

// errStore: the store did not answer, and the error is of neither service.
var errStore = errors.New("the store does not answer")

// Outside reads an issue or a card that no link knows and says why it has none. An issue that
// has another name now, as it was transferred, is a [mapping.MovedError].
func (e *Explainer) Outside(ctx context.Context, name string) (*status.Outside, error) {
	ctx, cancel := context.WithTimeout(ctx, previewPatience)
	defer cancel()
	item, err := status.ParseItem(name)
	if err != nil {
		return nil, err
	}
	var out *status.Outside
	var moved *mapping.MovedError
	service := "GitHub"
	if item.Repository != "" {
		out, err = e.outsideIssue(ctx, item.Repository, item.Number)
	} else {
		service = "planning"
		out, err = e.outsideCard(ctx, item)
	}
	switch {
	case errors.Is(err, status.ErrName), errors.Is(err, errStore), errors.As(err, &moved) && moved.Known():
		return nil, err
	case moved != nil:
		return nil, status.Unknown("%s is no issue any more: GitHub says that it %w", item.Name, moved)
	case mapping.Refused(err), errors.Is(err, store.ErrNotFound):
		return nil, unknown(item)
	case err != nil:
		return nil, status.Away("%s has no link, and %s could not be asked why: %w", item.Name, service, err)
	}
	return out, nil
}

// unknown is the error for an item that does not exist.
func unknown(item status.Item) error {
	switch {
	case item.Repository != "":
		return status.Unknown("GitHub has no issue %s, or the token does not reach it", item.Name)
	case item.CID != 0:
		return status.Unknown("no issue, card or task with a partner has the number %d, nor has a card of the configured projects (an issue without a partner is called owner/name#number)", item.CID)
	}
	return status.Unknown("no card, task or link has the id %s (an issue is called owner/name#number)", item.Name)
}

func (e *Explainer) outsideIssue(ctx context.Context, repo string, number int) (*status.Outside, error) {
	known, err := identity.Read(ctx, e.o.Store, identity.DocRepository(repo))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errStore, err)
	case known.Other != 0:
		return &status.Outside{Repository: repo, Number: number, Why: "another repository has the name " + repo + " now: nothing of it is taken before planbridge accept repository " + repo}, nil
	}
	hub, done, err := e.o.Services.GitHub()
	if err != nil {
		return nil, err
	}
	defer done()
	near := e.set().Routes.ForRepo(repo)
	issue, err := hub.Issue(ctx, repo, number)
	switch {
	case len(near) == 0 && !errors.Is(err, mapping.ErrMoved):
		return &status.Outside{Repository: repo, Number: number, Why: e.whyNoRoute(repo)}, nil
	case err != nil:
		return nil, err
	}
	route, why, err := e.whyOutside(ctx, hub, &issue)
	if err != nil {
		return nil, err
	}
	out := &status.Outside{Repository: issue.Repo, Number: issue.Number, Title: issue.Title, Author: issue.Author, Association: issue.Association, Why: why}
	if route == nil {
		route = near[0]
	}
	out.Route = route.Name
	return out, nil
}

// whyNoRoute says why no route takes a repository's issues.
func (e *Explainer) whyNoRoute(repo string) string {
	if r := e.set().Routes.Excluding(repo); r != nil {
		return mapping.WhyNoRoute + ": route " + r.Name + " excludes it"
	}
	return mapping.WhyNoRoute
}

// whyOutside says why an issue stays out, and the route by which it would enter, where one takes
// it.
func (e *Explainer) whyOutside(ctx context.Context, hub GitHub, issue *mapping.Issue) (*mapping.Route, string, error) {
	set := e.set()
	private, err := hub.Private(ctx, issue.Repo)
	if err != nil {
		return nil, "", fmt.Errorf("ask whether %s is public: %w", issue.Repo, err)
	}
	in := mapping.Entrance{Scheme: set.Scheme, Own: set.Keys.Made(issue, hub.Authorship(issue.Author)), Public: !private, FirstRuns: e.o.FirstRuns}
	route, why := set.Routes.Entering(issue, in)
	if why == mapping.WhyQuarantine {
		if in.Released, err = hub.Released(ctx, issue); err != nil {
			return nil, "", err
		}
		route, why = set.Routes.Entering(issue, in)
	}
	taken, _ := set.Routes.ForIssue(issue, set.Scheme)
	switch {
	case route != nil:
		why, err = e.whyNotYet(ctx, route, "its delivery or the next catch-up lets it in by route "+route.Name+"; where its route refused it at its last change, an edit or planbridge import does")
	case why == mapping.WhyOlder && taken != nil:
		why += " at " + e.o.FirstRuns.FirstRun(taken.Name).UTC().Format(time.RFC3339) + ": planbridge import takes it"
	case why == mapping.WhyClosed && !issue.Lasted(set.EnterDelay):
		why += ": it was closed within github.enter_delay (" + set.EnterDelay.String() + ") after it was opened"
	}
	return taken, why, err
}

// whyNotYet says why an item that may enter still waits; next is what lets it in.
func (e *Explainer) whyNotYet(ctx context.Context, route *mapping.Route, next string) (string, error) {
	since, err := e.o.Pauses.PausedSince(ctx, route.Name)
	if err != nil {
		return "", fmt.Errorf("%w: pause of route %s: %w", errStore, route.Name, err)
	}
	if !since.IsZero() {
		return "its route is paused since " + since.UTC().Format(time.RFC3339), nil
	}
	return "nothing keeps it out: " + next, nil
}
