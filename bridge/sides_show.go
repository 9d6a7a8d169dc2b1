package bridge

import (
	"context"
	"slices"
	"time"
	_ "time/tzdata" // a sprint ends on a day of its project's zone, also where the system has no zones

	"planbridge/bridge/github"
	"planbridge/bridge/poll"
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
		if !e.At.Before(since) && g.Whose(e.Actor).Perhaps() {
			return true, nil
		}
	}
	return false, err
}

// zone is a project's time zone, which is asked for once in a while.
type zone struct {
	*time.Location
	until time.Time
}

const (
	zoneFor   = time.Hour
	noZoneFor = 10 * time.Minute // until one that was not told is asked for again
)

// location is the project's time zone, UTC where it is not known.
func (p *planningSide) location(ctx context.Context) *time.Location {
	p.mu.Lock()
	z := p.zone
	p.mu.Unlock()
	if time.Now().Before(z.until) {
		return z.Location
	}
	project, err := p.Project(ctx)
	var known *time.Location
	if err == nil {
		known, err = time.LoadLocation(project.Timezone)
	}
	switch {
	case err == nil:
		z = zone{known, time.Now().Add(zoneFor)}
	case z.Location == nil:
		z = zone{time.UTC, time.Now().Add(noZoneFor)}
	default:
		z.until = time.Now().Add(noZoneFor)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.zone = z
	return z.Location
}

// Sprints lists the project's sprints for the poller, in its time zone.
func (p *planningSide) Sprints(ctx context.Context) ([]poll.Sprint, error) {
	sprints, err := p.PlanningClient.Sprints(ctx)
	if err != nil || len(sprints) == 0 {
		return nil, err
	}
	here := p.location(ctx)
	out := make([]poll.Sprint, len(sprints))
	for i, s := range sprints {
		out[i] = poll.Sprint{
			ID: s.ID, Title: s.Title, Summary: s.Summary, Start: in(here, s.Start), End: in(here, s.End),
			Future: s.IsFuture, Active: s.IsActive, Past: s.IsPast,
		}
	}
	return out, nil
}

func in(here *time.Location, t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.In(here)
}

// SprintItems lists what a sprint holds, in either form. A card's users are
// those on its own entry and on its tasks'.
func (p *planningSide) SprintItems(ctx context.Context, sprint mapping.ObjectID) ([]mapping.Card, []mapping.Task, error) {
	items, err := p.PlanningClient.SprintItems(ctx, sprint)
	if err != nil {
		return nil, nil, err
	}
	byCard := map[mapping.ObjectID][]string{}
	for i := range items.Tasks {
		t := &items.Tasks[i]
		byCard[t.Owner] = append(byCard[t.Owner], items.Users[t.ID]...)
	}
	for i := range items.Cards {
		c := &items.Cards[i]
		users := append([]string{}, items.Users[c.ID]...) // nobody is known, too
		users = append(users, byCard[c.ID]...)
		for j := range c.Tasks {
			users = append(users, items.Users[c.Tasks[j].ID]...)
		}
		slices.Sort(users)
		c.Users = slices.Compact(users)
	}
	return items.Cards, items.Tasks, nil
}
