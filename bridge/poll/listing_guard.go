package poll

import (
	"maps"
	"sync"
	"time"

	"planbridge/bridge/poll/seen"
	"planbridge/mapping"
)

// incompleteListingTimeout bounds how long missing cards keep a project from being adopted. This
// process saw them before the store was lost, and a complete listing lacks them.
const incompleteListingTimeout = 5 * time.Minute

// listingGuard holds the cards that a complete listing has to show. This process saw them
// before it loaded its caches anew, or planning answered with them, or an earlier round of the
// adoption showed them. Planning has no delete, so a listing without one of them is
// incomplete, and proves no partner absent.
type listingGuard struct {
	cards  map[mapping.ObjectID]struct{}
	since  time.Time // when a complete round first lacked some; zero: none did
	rounds int       // how many complete rounds there were since adoption began
}

// inherit adds the cards of a cache that is dropped. A card that has been gone for longer than the
// timeout is not expected back.
func (w *listingGuard) inherit(old *seen.Cache, now time.Time) {
	for id, k := range old.Items {
		if k.Listing != "" && (!k.Gone || now.Sub(time.Unix(0, k.Seen)) < incompleteListingTimeout) {
			w.add(id)
		}
	}
}

func (w *listingGuard) add(card mapping.ObjectID) {
	if w.cards == nil {
		w.cards = map[mapping.ObjectID]struct{}{}
	}
	w.cards[card] = struct{}{}
}

// accepts reports whether a complete round proves absence. It showed every card that this process
// saw before, or the timeout for the others has passed. A process that saw nothing before compares
// two rounds.
func (w *listingGuard) accepts(r *round) bool {
	r.confirmed.each(w.add)
	lacking, compared := 0, w.rounds > 0 || len(w.cards) > 0
	for id := range w.cards {
		if k := r.cards.Items[id]; k == nil || k.Round != r.rounds {
			lacking++
		}
	}
	w.rounds++
	for id, k := range r.cards.Items {
		if k.Round == r.rounds {
			w.add(id)
		}
	}
	switch {
	case lacking == 0:
		return compared
	case w.since.IsZero():
		w.since = r.began
		r.o.Logger.Warn("nothing is created yet: cards that were there before are missing from the listings",
			"missing", lacking, "of", len(w.cards), "for_at_most", incompleteListingTimeout.String())
	case r.began.Sub(w.since) >= incompleteListingTimeout:
		r.o.Logger.Warn("cards that were there before are taken to be gone", "missing", lacking, "of", len(w.cards))
		r.confirmed.clear()
		return true
	}
	return false
}

// confirmedCards are cards that the reconcile made or read, and that no round has shown since
// the caches were loaded. It is safe for concurrent use.
type confirmedCards struct {
	mu    sync.Mutex
	cards map[mapping.ObjectID]struct{}
}

// Exists says that planning answered with a card. It may be called at any time and does not
// wait for a round.
func (p *Poller) Exists(card mapping.ObjectID) {
	t := &p.confirmed
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cards == nil {
		t.cards = map[mapping.ObjectID]struct{}{}
	}
	t.cards[card] = struct{}{}
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
