package poll

import (
	"context"
	"fmt"

	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
	"planbridge/store"
)

// load loads the caches unless they are the store's, and reports whether the store's epoch was
// adopted for the project.
func (p *Poller) load(ctx context.Context) (adopted bool, err error) {
	epoch, err := p.o.Store.Epoch(ctx)
	if err != nil {
		return false, fmt.Errorf("read the store's epoch: %w", err)
	}
	doc, err := store.ReadDoc(ctx, p.o.Store, p.o.Project, store.DocAdopted)
	if err != nil {
		return false, err
	}
	if adopted = string(doc) == epoch; adopted {
		p.readAll = false
	}
	forgets := p.forgets.Load()
	if p.epoch == epoch {
		p.unsure = nil
	}
	if p.cards != nil && p.epoch == epoch && p.loaded == forgets {
		p.settled = p.settled && adopted
		return adopted, nil
	}
	p.loaded, p.settled = -1, false
	p.restarted = !adopted && p.o.Host.IsSameStore(string(doc), epoch)
	if !adopted {
		if err := p.o.Store.Repair(ctx, p.o.Project); err != nil {
			return false, err
		}
	}
	cards, err := seen.Load(ctx, p.o.Store, p.o.Project, SetCards)
	if err != nil {
		return false, err
	}
	tasks, err := seen.Load(ctx, p.o.Store, p.o.Project, SetTasks)
	if err != nil {
		return false, err
	}
	var known seen.Baseline
	if _, err := store.ReadJSON(ctx, p.o.Store, p.o.Project, seen.DocBaseline, &known); err != nil {
		return false, err
	}
	if known == nil && p.baseline != nil {
		known = p.baseline
		cards.Inherit(p.cards)
		tasks.Inherit(p.tasks)
	}
	if p.cards != nil {
		p.listing.inherit(p.cards, p.clock.Now())
	}
	cards.Doubt(p.unsure)
	tasks.Doubt(p.unsure)
	p.memory = memory{epoch: epoch, cards: cards, tasks: tasks, baseline: known, buckets: map[mapping.ObjectID]string{}}
	p.readAll, p.loaded = false, forgets
	return adopted, nil
}

// forget makes the next load read the caches from the store. They are kept until then, as they are
// the only source where the store lost its marks.
func (p *Poller) forget() {
	p.forgets.Add(1)
	p.dropped.drain()
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
