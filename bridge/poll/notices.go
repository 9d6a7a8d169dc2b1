package poll

import (
	"maps"
	"sync"

	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
)

// confirmedCards are cards that the reconcile made or read, and that no round has shown since
// the caches were loaded. It is safe for concurrent use.
type confirmedCards struct {
	mu    sync.Mutex
	cards map[mapping.ObjectID]struct{}
}

// shown drops the cards that a round showed.
func (t *confirmedCards) shown(m *seen.Cache) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.cards, func(id mapping.ObjectID, _ struct{}) bool {
		k := m.Items[id]
		return k != nil && k.Listing != "" && !k.Gone
	})
}

func (t *confirmedCards) each(do func(mapping.ObjectID)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.cards {
		do(id)
	}
}

func (t *confirmedCards) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.cards)
}

// dropped are the items whose marks were removed since the last round, by set. It is safe for
// concurrent use.
type dropped struct {
	mu    sync.Mutex
	items map[string][]mapping.ObjectID
}

func (d *dropped) drain() map[string][]mapping.ObjectID {
	d.mu.Lock()
	defer d.mu.Unlock()
	items := d.items
	d.items = nil
	return items
}
