package poll

import (
	"maps"
	"sync"
	"time"

	"planbridge/mapping"
)

// lackingPatience bounds how long a complete listing that lacks cards which this
// process saw before the store was lost keeps a project from being adopted.
const lackingPatience = 5 * time.Minute

// witness are the cards that this process saw before it read its memory from the
// store anew, those that it was told of, and those that an earlier round showed which
// was to adopt. Planning has no delete, so a listing that lacks one lies, or the card
// just moved out of sight. A listing that lies is no proof that a partner is not there.
type witness struct {
	cards map[mapping.ObjectID]struct{}
	since time.Time // when a complete round first lacked some; zero: none did
	looks int       // how many complete rounds were to adopt
}

// recall adds what was seen according to a memory that is given up. What has
// been gone for longer than would be waited for it is not expected back.
func (w *witness) recall(old *memory, now time.Time) {
	for id, k := range old.items {
		if k.place != "" && (!k.gone || now.Sub(time.Unix(0, k.seen)) < lackingPatience) {
			w.add(id)
		}
	}
}

func (w *witness) add(card mapping.ObjectID) {
	if w.cards == nil {
		w.cards = map[mapping.ObjectID]struct{}{}
	}
	w.cards[card] = struct{}{}
}

// believes reports whether a complete round proves what is not there: it showed
// all that this process saw before, or that has been waited for long enough. A process
// that saw nothing before compares two rounds.
func (w *witness) believes(r *round) bool {
	r.told.each(w.add)
	lacking, compared := 0, w.looks > 0 || len(w.cards) > 0
	for id := range w.cards {
		if k := r.cards.items[id]; k == nil || k.round != r.rounds {
			lacking++
		}
	}
	w.looks++
	for id, k := range r.cards.items {
		if k.round == r.rounds {
			w.add(id)
		}
	}
	switch {
	case lacking == 0:
		return compared
	case w.since.IsZero():
		w.since = r.began
		r.o.Logger.Warn("nothing is created yet: cards that were there before are missing from the listings",
			"missing", lacking, "of", len(w.cards), "for_at_most", lackingPatience.String())
	case r.began.Sub(w.since) >= lackingPatience:
		r.o.Logger.Warn("cards that were there before are taken to be gone", "missing", lacking, "of", len(w.cards))
		r.told.clear()
		return true
	}
	return false
}

// told are cards of which this process knows that they are there, though no
// round has shown them since it read its memory: the reconcile made them, or
// read them. It is safe for concurrent use.
type told struct {
	mu    sync.Mutex
	cards map[mapping.ObjectID]struct{}
}

// Exists tells the Poller of a card that planning answered with. It may be
// called at any time and does not wait for a round.
func (p *Poller) Exists(card mapping.ObjectID) {
	t := &p.told
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cards == nil {
		t.cards = map[mapping.ObjectID]struct{}{}
	}
	t.cards[card] = struct{}{}
}

// shown forgets what the memory knows better.
func (t *told) shown(m *memory) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.cards, func(id mapping.ObjectID, _ struct{}) bool {
		k := m.items[id]
		return k != nil && k.place != "" && !k.gone
	})
}

func (t *told) each(do func(mapping.ObjectID)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.cards {
		do(id)
	}
}

func (t *told) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.cards)
}
