package poll

import (
	"context"
	"fmt"
	"sync"

	"planbridge/mapping"
	"planbridge/store"
)

// The names of the sets of marks.
const (
	SetCards = store.MarksCards
	SetTasks = "tasks"
)

// Listed returns the cards and the tasks that a project's listings show.
func Listed(ctx context.Context, planning Planning) (cards, tasks map[mapping.ObjectID]bool, err error) {
	cards, tasks = map[mapping.ObjectID]bool{}, map[mapping.ObjectID]bool{}
	take := func(some []mapping.Task) {
		for i := range some {
			tasks[some[i].ID] = true
		}
	}
	_, _, err = planning.BacklogNews(ctx, "", func(mapping.ObjectID, string, []byte, []byte) bool { return false }, func(_ mapping.ObjectID, _ string, c mapping.Card) error {
		cards[mapping.ObjectID(append([]byte(nil), c.ID...))] = true // it is part of a whole answer
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list backlog: %w", err)
	}
	sprints, err := planning.Sprints(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list sprints: %w", err)
	}
	for _, s := range sprints {
		some, flat, err := planning.SprintItems(ctx, s.ID)
		if err != nil {
			return nil, nil, fmt.Errorf("list items of sprint %s: %w", s.ID, err)
		}
		take(flat)
		for i := range some {
			cards[some[i].ID] = true
			take(some[i].Tasks)
		}
	}
	return cards, tasks, nil
}

// dropped are the items whose marks were removed since the last round, by their set. It
// is safe for concurrent use.
type dropped struct {
	mu    sync.Mutex
	items map[string][]mapping.ObjectID
}

// Forget tells the Poller that the mark of an item was removed, as the item is gone for
// long. It may be called at any time and does not wait for a round.
func (p *Poller) Forget(set string, id mapping.ObjectID) {
	d := &p.dropped
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.items == nil {
		d.items = map[string][]mapping.ObjectID{}
	}
	d.items[set] = append(d.items[set], id)
}

func (d *dropped) take() map[string][]mapping.ObjectID {
	d.mu.Lock()
	defer d.mu.Unlock()
	items := d.items
	d.items = nil
	return items
}

// forgetDropped takes the items out of the memory whose marks were removed. A card that
// the last round saw came back just then, and is marked again.
func (p *Poller) forgetDropped(ctx context.Context) error {
	memories := map[string]*cardCache{SetCards: p.cards, SetTasks: p.tasks}
	for set, ids := range mapping.Sorted(p.dropped.take()) {
		m, back := memories[set], map[string]string{}
		for _, id := range ids {
			switch k := m.items[id]; {
			case k == nil:
			case k.round == p.rounds && !k.gone && k.round > 0:
				back[string(id)] = k.mark()
			default:
				delete(m.items, id)
			}
		}
		if err := p.o.Store.PutMarks(ctx, p.o.Project, set, back); err != nil {
			p.forget() // it is read from the store anew
			return fmt.Errorf("mark %d %s again: %w", len(back), set, err)
		}
	}
	return nil
}
