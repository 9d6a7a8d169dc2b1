package operator

import (
	"context"

	"planbridge/bridge/explain"
	"planbridge/mapping"
)

// Services opens what reads the two services. Each release ends the use of what was opened.
type Services interface {
	// Ready waits until the services may be asked for what is to be kept.
	Ready(ctx context.Context) error
	GitHub() (hub explain.GitHub, release func(), err error)
	// Planning fails with [status.ErrName] where no configured project has the id.
	Planning(project mapping.ObjectID) (side Planning, release func(), err error)
	Previewer() (p Previewer, release func(), err error)
}

// Planning is what is asked of one planning project.
type Planning interface {
	explain.Planning
	// BucketIDs returns the ids of a bucket, given by title or id; none where there is none.
	BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error)
}

// Previewer says what the next reconcile would do.
type Previewer interface {
	Preview(ctx context.Context, l *mapping.Link) (*mapping.Preview, error)
	// PlanCleaning says what would be taken off a pair that is taken apart.
	PlanCleaning(ctx context.Context, l *mapping.Link) ([]mapping.CleanStep, error)
	// PlanMove says what becomes of a pair whose issue moves to where routes lead.
	PlanMove(ctx context.Context, l *mapping.Link, routes mapping.Routes) (mapping.MovePlan, error)
}

// opener opens a service for one question, and releases it.
type opener struct{ Services }

// Planning opens a project for several questions.
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
