package decommission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

// An operator moves the issues of a route to cards in the route's present or future bucket. The old
// cards stay. A flag in each link's record says so, and the engine does the work.

// destination is the route of a move, as it leads to the requested project and bucket.
func (d *Decommissioner) destination(ctx context.Context, ask status.CleanAsk) (*mapping.Route, error) {
	routes := d.set().Routes
	own, project := routes.ByName(ask.Route), routes.ProjectNamed(ask.Project)
	switch {
	case ask.Project == "" || ask.Bucket == "":
		return nil, status.BadAsk("move: expected a project and a bucket")
	case own == nil:
		return nil, status.BadAsk("move: the configuration has no route %s", ask.Route)
	case project == "":
		return nil, status.BadAsk("move: planning.projects has %s, and no %s", strings.Join(d.projectNames(), ", "), ask.Project)
	case own.Direction == mapping.ToGitHub:
		return nil, fmt.Errorf("move: route %s only goes to GitHub: it makes no cards: %w", ask.Route, status.ErrState)
	}
	ids, err := d.bucketIDs(ctx, project, ask.Bucket)
	if err != nil {
		return nil, err
	}
	to := *own
	to.Project, to.ProjectName, to.Bucket = project, routes.ProjectName(project), ask.Bucket
	if own.Project == project && own.Bucket != ask.Bucket { // one of them may be an id
		its, err := d.bucketIDs(ctx, project, own.Bucket)
		if err == nil && slices.ContainsFunc(ids, func(id mapping.ObjectID) bool { return slices.Contains(its, id) }) {
			to.Bucket = own.Bucket
		}
	}
	return &to, nil
}

func (d *Decommissioner) projectNames() (out []string) {
	for _, id := range d.set().Routes.Projects() {
		out = append(out, d.set().Routes.ProjectName(id))
	}
	return out
}

// bucketIDs are the ids of a bucket; it is an error where there is none.
func (d *Decommissioner) bucketIDs(ctx context.Context, project mapping.ObjectID, bucket string) ([]mapping.ObjectID, error) {
	ids, err := d.o.Services.BucketIDs(ctx, project, bucket)
	if err == nil && len(ids) == 0 || errors.Is(err, mapping.ErrNotFound) {
		err = status.BadAsk("move: project %s has no bucket %q", d.set().Routes.ProjectName(project), bucket)
	}
	return ids, err
}

// mayMove reports why the issues of a route cannot be moved.
func (d *Decommissioner) mayMove(ctx context.Context, ask status.CleanAsk) error {
	to, err := d.destination(ctx, ask)
	if err != nil {
		return err
	}
	own := d.set().Routes.ByName(ask.Route)
	if own.Project == to.Project && own.Bucket == to.Bucket {
		since, err := d.o.Pauses.PausedSince(ctx, ask.Route)
		if err == nil && !since.IsZero() {
			err = notYet(fmt.Sprintf("route %s is paused: resume it first", ask.Route))
		}
		return err
	}
	return notYet(fmt.Sprintf("route %s goes to project %s, bucket %s: write project: %s and bucket: %s in the configuration, reload, and run move again",
		own.Name, own.ProjectName, own.Bucket, to.ProjectName, to.Bucket))
}

// move begins the move of a link's issue, or plans it. Only people move a card to another
// bucket of its project.
func (c *cleaner) move(ctx context.Context, l *mapping.Link) error {
	c.countLink()
	switch {
	case c.beingMade(l) && !c.ask.DryRun: // an earlier run has begun
		return c.await(ctx, l, c.o.Clock.Now())
	case l.Parted:
		c.stays(l, "an operator parted it")
		return nil
	case l.Project == c.to.Project && c.inPlace(l) && !c.beingMade(l):
		c.update(func(j *status.Job) { j.Done++; j.Clean.There++ })
		return nil
	case l.Project == c.to.Project && !c.beingMade(l):
		c.stays(l, fmt.Sprintf("its card %s is in bucket %s of the project: people move it to bucket %s in planning", l.Card.ID, l.Card.BucketName, c.to.Bucket))
		return nil
	case c.ask.DryRun:
		return c.plan(ctx, l)
	}
	c.left[mapping.FormerCard{Project: l.Project, Card: l.Card.ID}] = true
	return c.startWork(ctx, l)
}

// beingMade reports whether a link has taken an issue over and is getting its card.
func (c *cleaner) beingMade(l *mapping.Link) bool {
	return c.to != nil && l.Project == c.to.Project && l.Before != nil && (l.State == mapping.Entering || l.State == mapping.Creating)
}

// inPlace reports whether a pair's card is in a bucket of the route, as far as is known.
func (c *cleaner) inPlace(l *mapping.Link) bool {
	return l.Card.BucketName == "" || c.to.OwnsBucket(l.Card.BucketName, l.Card.Bucket, l.Card.StateID)
}

// stays counts a pair that the move does not concern, and says why.
func (c *cleaner) stays(l *mapping.Link, why string) {
	c.update(func(j *status.Job) {
		j.Done++
		j.Clean.Stayed++
		j.Clean.Took(status.CleanStep{Item: l.Where(), Side: string(mapping.Planning), What: why})
	})
}

// cannotMove begins the reason of a pair that cannot move.
const cannotMove = "it cannot be moved: "

// plan lists what would happen to a pair.
func (c *cleaner) plan(ctx context.Context, l *mapping.Link) error {
	plan, err := c.o.Services.PlanMove(ctx, l, c.set().Routes.With(*c.to))
	if err != nil {
		return err
	}
	c.update(func(j *status.Job) {
		j.Done++
		j.Clean.Writes += plan.Writes
		for _, s := range plan.Steps {
			j.Clean.Took(status.CleanStep{Item: s.Where, Side: string(s.Side), What: s.What})
		}
		switch {
		case plan.Stays != "":
			j.Clean.Stayed++
			j.Clean.Took(status.CleanStep{Item: l.Where(), What: plan.Stays})
		case plan.Hindered != "":
			j.Clean.Failed++
			j.Clean.Took(status.CleanStep{Item: l.Where(), What: cannotMove + plan.Hindered})
		default:
			j.Clean.Moved++
		}
	})
	return nil
}
