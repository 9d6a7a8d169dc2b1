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
