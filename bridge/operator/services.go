package operator

import (
	"context"

	"planbridge/bridge/explain"
	"planbridge/mapping"
)

// Services opens readers of the two services. Each release ends the use of a reader.
type Services interface {
	// Ready waits until answers of the services may be stored.
	Ready(ctx context.Context) error
	GitHub() (hub explain.GitHub, release func(), err error)
	// Planning fails with [status.ErrName] where no configured project has the id.
	Planning(project mapping.ObjectID) (side Planning, release func(), err error)
	Previewer() (p Previewer, release func(), err error)
}

// Planning is the used part of one planning project.
type Planning interface {
	explain.Planning
	// BucketIDs returns the ids of a bucket, given by title or id; none where there is none.
	BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error)
}

// Previewer returns the plans of reconciles.
type Previewer interface {
	Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error)
	// PlanCleaning lists the marks that would be removed from a pair that is taken apart.
	PlanCleaning(ctx context.Context, l *mapping.Link) ([]mapping.CleanStep, error)
	// PlanMove returns the plan for a pair whose issue moves along the routes.
	PlanMove(ctx context.Context, l *mapping.Link, routes mapping.Routes) (mapping.MovePlan, error)
}

// opener opens a service for one request, and releases it.
type opener struct{ Services }

// Planning opens a project for several requests.
func (o opener) Planning(project mapping.ObjectID) (explain.Planning, func(), error) {
	return o.Services.Planning(project)
}

func (o opener) Issue(ctx context.Context, repo string, number int) (mapping.Issue, error) {
	hub, release, err := o.GitHub()
	if err != nil {
		return mapping.Issue{}, err
	}
	defer release()
	return hub.Issue(ctx, repo, number)
}

func (o opener) Card(ctx context.Context, project, id mapping.ObjectID) (mapping.Card, error) {
	side, release, err := o.Planning(project)
	if err != nil {
		return mapping.Card{}, err
	}
	defer release()
	return side.Card(ctx, id)
}

func (o opener) BucketIDs(ctx context.Context, project mapping.ObjectID, bucket string) ([]mapping.ObjectID, error) {
	side, release, err := o.Services.Planning(project)
	if err != nil {
		return nil, err
	}
	defer release()
	return side.BucketIDs(ctx, bucket)
}

func (o opener) Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error) {
	p, release, err := o.Previewer()
	if err != nil {
		return nil, err
	}
	defer release()
	return p.Preview(ctx, l)
}

func (o opener) PlanCleaning(ctx context.Context, l *mapping.Link) ([]mapping.CleanStep, error) {
	p, release, err := o.Previewer()
	if err != nil {
		return nil, err
	}
	defer release()
	return p.PlanCleaning(ctx, l)
}

func (o opener) PlanMove(ctx context.Context, l *mapping.Link, routes mapping.Routes) (mapping.MovePlan, error) {
	p, release, err := o.Previewer()
	if err != nil {
		return mapping.MovePlan{}, err
	}
	defer release()
	return p.PlanMove(ctx, l, routes)
}
