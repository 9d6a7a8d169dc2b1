package bridge

import (
	"context"

	"planbridge/bridge/planning"
	"planbridge/mapping"
)

// PlanningClient is what an App asks of one planning project: a [planning.Client], or
// what answers in its place.
type PlanningClient interface {
	planning.Reader
	Burndown(ctx context.Context, sprint mapping.ObjectID) (planning.Burndown, error)
	BacklogNews(ctx context.Context, since string, known func(bucket mapping.ObjectID, title string, id, text []byte) bool,
		visit func(bucket mapping.ObjectID, title string, card mapping.Card) error) (tag string, unchanged bool, err error)
	EachCard(ctx context.Context, visit func(mapping.Card) error) error
	BucketIDs(ctx context.Context, bucket string) ([]mapping.ObjectID, error)
	CheckProject(ctx context.Context) error
	Probe(ctx context.Context) error
	Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error)
	Tasks(ctx context.Context, card mapping.ObjectID) ([]mapping.Task, error)
	Task(ctx context.Context, id mapping.ObjectID) (mapping.Task, error)
	CreateCard(ctx context.Context, bucket mapping.ObjectID, username string, card planning.NewCard) (mapping.Card, error)
	CreateCardsBy(ctx context.Context, bucket mapping.ObjectID, cards []planning.UserCard) ([]mapping.Card, error)
	CreateTask(ctx context.Context, card mapping.ObjectID, username string, task planning.NewTask) (mapping.Task, error)
	CreateTasks(ctx context.Context, card mapping.ObjectID, username string, tasks []planning.NewTask) ([]mapping.Task, error)
	UpdateCard(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (planning.Updated, error)
	UpdateTask(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (planning.Updated, error)

	SetSecret(secret string)
	// Down reports whether the service is known to be away.
	Down() bool
	Close()
}

// newPlanning makes the client of a project.
func (a *App) newPlanning(o planning.Options) (PlanningClient, error) {
	if a.o.Planning != nil {
		return a.o.Planning(o), nil
	}
	return planning.New(o)
}
