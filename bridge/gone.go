package bridge

import (
	"context"
	"errors"
	"maps"
	"slices"

	"planbridge/bridge/poll"
	"planbridge/bridge/retention"
	"planbridge/mapping"
)

// items are the cards and tasks of a project that polls remember. Those are needed that
// a listing shows; a task, too, that a link keeps the same, as the backlog shows none.
// Where planning does not list everything now, the next pass looks.
func (a *App) items(ctx context.Context, project mapping.ObjectID, carried retention.Names) ([]retention.Items, error) {
	p := a.projects.get(project)
	if p == nil {
		return nil, nil // not configured: nothing is remembered of it any more
	}
	cards, tasks, err := poll.Listed(ctx, p.side)
	if err != nil {
		a.log.Info("what is remembered of items that are gone is looked through another day", "project", project, "err", err)
		return nil, ctx.Err()
	}
	gone := func(err error) (bool, error) {
		if errors.Is(err, mapping.ErrNotFound) || errors.Is(err, mapping.ErrGone) {
			return true, nil
		}
		return false, err
	}
	return []retention.Items{{
		Set:    poll.SetCards,
		Needed: func(id mapping.ObjectID) bool { return cards[id] },
		Gone: func(ctx context.Context, id mapping.ObjectID) (bool, error) {
			_, err := p.side.Card(ctx, id)
			return gone(err)
		},
		Forget: func(id mapping.ObjectID) { p.poller.Forget(poll.SetCards, id) },
	}, {
		Set:    poll.SetTasks,
		Needed: func(id mapping.ObjectID) bool { return tasks[id] || carried.Tasks[id] },
		Gone: func(ctx context.Context, id mapping.ObjectID) (bool, error) {
			_, err := p.side.Task(ctx, id)
			return gone(err)
		},
		Forget: func(id mapping.ObjectID) { p.poller.Forget(poll.SetTasks, id) },
	}}, nil
}

// seenCards are the cards of a project that polls remember.
func (a *App) seenCards(ctx context.Context, project mapping.ObjectID) (cards []mapping.ObjectID, err error) {
	marks, err := a.store.Marks(ctx, project, poll.SetCards)
	for _, id := range slices.Sorted(maps.Keys(marks)) {
		cards = append(cards, mapping.ObjectID(id))
	}
	return cards, err
}
