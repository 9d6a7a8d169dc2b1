package operator

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
)

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
	hub, done, err := o.services.GitHub()
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

func (o *Operator) whyOutside(ctx context.Context, hub GitHub, issue *mapping.Issue) (string, error) {
	set := o.set()
	private, err := hub.Private(ctx, issue.Repo)
	if err != nil {
		return "", fmt.Errorf("ask whether %s is public: %w", issue.Repo, err)
	}
	e := mapping.Entrance{Scheme: set.Scheme, Own: set.Keys.Made(issue, hub.Whose(issue.Author)), Public: !private, FirstRun: o.process.FirstRun}
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
