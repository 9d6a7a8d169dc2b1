package poll

import (
	"context"
	"fmt"
	"sync"

	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
	"planbridge/store"
)

// The names of the sets of marks.
const (
	SetCards = store.MarksCards
	SetTasks = "tasks"
)

// dropped are the items whose marks were removed since the last round, by set. It is safe for
// concurrent use.
type dropped struct {
	mu    sync.Mutex
	items map[string][]mapping.ObjectID
}

// Forget says that the mark of an item was removed, as the item has been gone for long. It may
// be called at any time and does not wait for a round.
func (p *Poller) Forget(set string, id mapping.ObjectID) {
	d := &p.dropped
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.items == nil {
		d.items = map[string][]mapping.ObjectID{}
	}
	d.items[set] = append(d.items[set], id)
}

func (d *dropped) drain() map[string][]mapping.ObjectID {
	d.mu.Lock()
	defer d.mu.Unlock()
	items := d.items
	d.items = nil
	return items
}

// forgetDropped drops the cache entries whose marks were removed. A card that the last round
// saw has just come back, and is marked again.
func (p *Poller) forgetDropped(ctx context.Context) error {
	memories := map[string]*seen.Cache{SetCards: p.cards, SetTasks: p.tasks}
	for set, ids := range mapping.Sorted(p.dropped.drain()) {
		m, back := memories[set], map[string]string{}
		for _, id := range ids {
			switch k := m.Items[id]; {
			case k == nil:
			case k.Round == p.rounds && !k.Gone && k.Round > 0:
				back[string(id)] = k.Mark()
			default:
				delete(m.Items, id)
			}
		}
		if err := p.putMarks(ctx, set, back); err != nil {
			p.forget() // it is read from the store anew
			return err
		}
	}
	return nil
}

// putMarks stores marks of a set.
func (p *Poller) putMarks(ctx context.Context, set string, marks map[string]string) error {
	if len(marks) == 0 {
		return nil
	}
	if err := p.o.Store.PutMarks(ctx, p.o.Project, set, marks); err != nil {
		return fmt.Errorf("mark %d %s: %w", len(marks), set, err)
	}
	return nil
}
