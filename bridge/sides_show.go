package bridge

import (
	"context"
	"time"

	"planbridge/bridge/github"
	"planbridge/mapping"
)

// Milestones and PutMilestone are those of the adapter in mapping's words.
func (g *githubSide) Milestones(ctx context.Context, repo string) ([]mapping.Milestone, error) {
	list, err := g.Client.Milestones(ctx, repo)
	out := make([]mapping.Milestone, len(list))
	for i, m := range list {
		out[i] = mapping.Milestone(m)
	}
	return out, err
}

func (g *githubSide) PutMilestone(ctx context.Context, repo string, m mapping.Milestone) (mapping.Milestone, error) {
	now, err := g.Client.PutMilestone(ctx, repo, github.Milestone(m))
	return mapping.Milestone(now), err
}

// Closed reports whether the bridge's own account closed an issue at a moment
// or later.
func (g *githubSide) Closed(ctx context.Context, repo string, number int, since time.Time) (bool, error) {
	events, err := g.ClosedEvents(ctx, repo, number)
	for _, e := range events {
		if !e.At.Before(since) && g.OwnAccount(e.Actor) {
			return true, nil
		}
	}
	return false, err
}
