package reconcile_test

import (
	"context"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
)

// CreateCards makes the cards of a batch one after the other and answers them
// in another order.
func (p *plan) CreateCards(ctx context.Context, bucket mapping.ObjectID, items []reconcile.BatchItem) ([]mapping.Card, error) {
	var made []mapping.Card
	for _, i := range items {
		card, err := p.CreateCard(ctx, bucket, i.Username, i.NewItem)
		if err != nil {
			return made, err
		}
		made = append([]mapping.Card{card}, made...)
	}
	return made, nil
}

// CreateTasks does the same with tasks.
func (p *plan) CreateTasks(ctx context.Context, card mapping.ObjectID, user string, items []reconcile.NewItem) ([]mapping.Task, error) {
	var made []mapping.Task
	for _, i := range items {
		task, err := p.CreateTask(ctx, card, user, i)
		if err != nil && p.mute {
			return nil, err
		}
		if err != nil {
			return made, err
		}
		made = append([]mapping.Task{task}, made...)
	}
	return made, nil
}

func (p *faultyPlan) CreateTasks(ctx context.Context, card mapping.ObjectID, user string, items []reconcile.NewItem) ([]mapping.Task, error) {
	return call(p.f, "write", "CreateTasks", func() ([]mapping.Task, error) { return p.plan.CreateTasks(ctx, card, user, items) })
}
