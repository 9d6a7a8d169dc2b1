package effects

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"planbridge/bridge/engine"
	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// An import creates its cards in batches, and so does a crowd of entering issues: one call takes
// an array of any number of cards. Each card is created under the lease of its own key, in the
// same way as a single one. Only the request is shared. The answer is matched by marker, never by
// position. A card that the answer does not show may exist all the same.

// batched is one card to create in a batch.
type batched struct {
	link   mapping.LinkID
	order  int // the issue's number: cards are ordered as their issues are
	bucket mapping.ObjectID
	side   Planning
	keys   mapping.Keys
	item   reconcile.BatchItem

	card  mapping.Card // valid after the act: the card, or why there is none
	err   error
	count int // cards in the batch
}

// errRefusedBatch says that planning refused a request of several cards. It may have made the
// cards before the one that it does not take.
var errRefusedBatch = errors.New("planning refused the batch")

// createCard makes a card, alone or in a batch.
func (h *executor) createCard(e reconcile.CreateCard) (reconcile.MadeCard, error) {
	m := &batched{link: e.Link, order: e.Order, bucket: e.Bucket, side: h.planning, keys: h.keys, item: e.Item}
	b := engine.Batch{Name: "cards " + string(e.Bucket), Most: e.Most, Brief: !e.Import, Write: true, Turn: true, Act: acting(h.makeBatch)}
	if err := h.together(h.writing, b, m, e.Braked); err != nil {
		return reconcile.MadeCard{}, notTaken(err)
	}
	return reconcile.MadeCard{Card: m.card, Batch: m.count, Refused: errors.Is(m.err, errRefusedBatch)}, m.err
}

// together does an act in a batch. The keys of an import always wait for each other. Any other
// key waits briefly, and only in a crowd or where others come with it. Otherwise it acts alone at
// once.
func (h *executor) together(ctx context.Context, b engine.Batch, member any, withOthers bool) error {
	b.Project = h.claim.Link.Project
	if b.Brief {
		resume := h.crowd(withOthers)
		if resume == nil {
			h.acquireSlot()
			b.Act(ctx, []any{member})
			return nil
		}
		defer resume()
	}
	return h.lease.Join(h.apart(ctx), b, member)
}

// crowd lets other keys be worked until resume is called, while this key waits for its batch. It
// returns nil where few keys are worked and none comes with it, too many wait, or this key yields
// already.
func (h *executor) crowd(withOthers bool) (resume func()) {
	if h.lease == nil || h.resume != nil || !withOthers && !h.lease.Crowded() {
		return nil
	}
	resume, _ = h.lease.Yield()
	return resume
}

// acting makes an Act for members of one type.
func acting[M any](act func(context.Context, []*M)) func(context.Context, []any) {
	return func(ctx context.Context, members []any) {
		typed := make([]*M, len(members))
		for i, m := range members {
			typed[i] = m.(*M)
		}
		act(ctx, typed)
	}
}

// makeBatch creates the cards of one request and gives each key its own result.
func (s *Shell) makeBatch(ctx context.Context, members []*batched) {
	slices.SortFunc(members, func(a, b *batched) int { return a.order - b.order })
	first := members[0]
	if len(members) == 1 {
		first.card, first.err = first.side.CreateCard(ctx, first.bucket, first.item.Username, first.item.NewItem)
		return
	}
	items := make([]reconcile.BatchItem, len(members))
	for i, m := range members {
		items[i], m.count = m.item, len(members)
	}
	cards, err := first.side.CreateCards(ctx, first.bucket, items)
	log := s.Logger.With("cards", len(items), "answered", len(cards))
	if err != nil {
		log = log.With("err", err)
	}
	log.Info("batch")
	matchByMarker(members, cards, err)
}

// matchByMarker gives each member the answered card with its marker, or the reason why it has
// none.
func matchByMarker(members []*batched, cards []mapping.Card, err error) {
	made := map[mapping.LinkID]mapping.Card{}
	for _, c := range cards {
		_, marks := members[0].keys.Body(c.Summary.Value)
		for _, m := range marks {
			if m.Kind == mapping.MarkCard {
				made[m.Link] = c
			}
		}
	}
	var refused *mapping.Rejection
	switch {
	case errors.As(err, &refused):
		err = fmt.Errorf("%w of %s: %s", errRefusedBatch, mapping.Count(len(members), "card", "cards"), refused.Message)
	case err == nil:
		err = fmt.Errorf("%w: the answer to a batch of %s does not show this one", mapping.ErrUncertain, mapping.Count(len(members), "card", "cards"))
	}
	for _, m := range members {
		card, ok := made[m.link]
		if ok {
			m.card = card
			continue
		}
		m.err = err
	}
}

// lookupRequest is the search for a card by its marker.
type lookupRequest struct {
	*executor
	link    mapping.LinkID
	partner string // the issue's id

	found reconcile.FoundCards // valid after the act
	err   error
}

// findCards visits the cards of every bucket and sprint. Keys of an import, and those of a crowd,
// share one complete lookup.
func (h *executor) findCards(e reconcile.FindCards) (reconcile.FoundCards, error) {
	s := &lookupRequest{executor: h, link: e.Link, partner: strconv.FormatInt(e.Issue, 10)}
	b := engine.Batch{Name: "lookup", Brief: !e.Import, Act: acting(lookForAll)}
	if err := h.together(h.ctx, b, s, false); err != nil {
		return reconcile.FoundCards{}, err
	}
	return s.found, s.err
}

// lookForAll makes one complete lookup for all its members.
func lookForAll(ctx context.Context, members []*lookupRequest) {
	byLink, byPartner := map[mapping.LinkID]*lookupRequest{}, map[string]*lookupRequest{}
	for _, s := range members {
		byLink[s.link], byPartner[s.partner] = s, s
	}
	first, shown := members[0], map[mapping.ObjectID]bool{}
	err := first.planning.EachCard(ctx, func(c mapping.Card) error {
		shown[mapping.ObjectID(strings.Clone(string(c.ID)))] = true // clone: the id shares memory with the whole answer
		_, marks := first.keys.Body(c.Summary.Value)
		for _, m := range marks {
			s := byLink[m.Link]
			if s == nil {
				s = byPartner[m.Partner]
			}
			if s != nil && m.Kind == mapping.MarkCard {
				s.found.Cards = append(s.found.Cards, c)
			}
		}
		return nil
	})
	var lacking mapping.ObjectID
	if err == nil {
		lacking, err = first.lacking(ctx, shown)
	}
	for _, s := range members {
		s.found.Lacking, s.err = lacking, err
	}
}

// lackingReads bounds the reads that check whether listings lack a card.
const lackingReads = 5

// lacking returns a card that exists, and that polls or the last lookup showed, but these listings
// did not. It returns "" where it knows none.
func (h *executor) lacking(ctx context.Context, shown map[mapping.ObjectID]bool) (mapping.ObjectID, error) {
	project := h.claim.Link.Project
	polled, err := h.Store.Marks(ctx, project, store.MarksCards)
	if err != nil {
		return "", err
	}
	last, _ := h.lookups.Load(project)
	before, _ := last.([]mapping.ObjectID)
	unshown := slices.Clone(before)
	for _, m := range polled {
		unshown = append(unshown, mapping.ObjectID(m.ID))
	}
	unshown = slices.DeleteFunc(unshown, func(id mapping.ObjectID) bool { return shown[id] })
	slices.Sort(unshown)
	unshown = slices.Compact(unshown)
	for _, id := range unshown[:min(len(unshown), lackingReads)] {
		if _, err := h.planning.Card(ctx, id); err == nil {
			return id, nil
		} else if !reconcile.IsGone(err) {
			return "", fmt.Errorf("whether listings lack cards: %w", err)
		}
	}
	for _, m := range polled {
		delete(shown, mapping.ObjectID(m.ID))
	}
	h.lookups.Store(project, slices.Collect(maps.Keys(shown)))
	return "", nil
}
