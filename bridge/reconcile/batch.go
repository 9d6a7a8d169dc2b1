package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"planbridge/mapping"
)

// The cards of an import are made in batches: an array of any number of cards
// is one call (planning-api.md part 8). Each card is still made under the lease
// of its own key, by the same path as a single one: only the request is shared.
// What becomes of a card is told by its marker in the answer, never by its
// place there; a card that the answer does not show may exist all the same.

// batchSize is how many cards one request makes at most.
const batchSize = 100

// BatchItem is one card of a batch, made in the name of a user of its own.
type BatchItem struct {
	Username string
	NewItem
}

// batched is one card of a batch that is to be made.
type batched struct {
	link   mapping.LinkID
	order  int // the issue's number: cards stand as their issues do
	bucket mapping.ObjectID
	side   Planning
	keys   mapping.Keys
	item   BatchItem

	card  mapping.Card // once it was acted: the card, or why there is none
	err   error
	count int // how many went together
}

// errRefusedBatch: planning refused a request of several cards. It may have
// made some of them before it came to the one it does not take.
var errRefusedBatch = errors.New("planning refused the batch")

// yieldSlot lets a key wait for others without keeping the workers from live
// changes; when too many wait already it is put off.
func (w *work) yieldSlot(ctx context.Context, wait func(context.Context) error) error {
	resume, retry := w.claimed().lease.Yield()
	if resume == nil {
		return inTurn(retry, "enough keys of the import are under way")
	}
	defer resume()
	return wait(ctx)
}

// joinBatch makes the issue's card with one request together with others.
func (w *work) joinBatch(ctx context.Context, bucket mapping.ObjectID, user string, item NewItem) (mapping.Card, error) {
	most := w.link.Intent.Most
	if most == 0 {
		most = batchSize
	}
	m := &batched{link: w.link.ID, order: w.link.Issue.Number, bucket: bucket, side: w.planning, keys: w.set.Keys, item: BatchItem{user, item}}
	b := Batch{Project: w.link.Project, Name: "cards " + string(bucket), Most: most, Write: true, Act: together(w.makeBatch)}
	if err := w.claimed().lease.Join(ctx, b, m); err != nil {
		if errors.Is(err, ErrNotTaken) {
			return mapping.Card{}, fmt.Errorf("%w: %w", mapping.ErrUnavailable, err)
		}
		return mapping.Card{}, fmt.Errorf("%w: %w", mapping.ErrUncertain, err)
	}
	if errors.Is(m.err, errRefusedBatch) {
		w.link.Intent.Most = max(1, m.count/10)
	}
	return m.card, m.err
}

// makeBatch makes the cards of one request and gives each key what is known of
// its own.
func (r *Reconciler) makeBatch(ctx context.Context, members []*batched) {
	slices.SortFunc(members, func(a, b *batched) int { return a.order - b.order })
	first := members[0]
	if len(members) == 1 {
		first.card, first.err = first.side.CreateCard(ctx, first.bucket, first.item.Username, first.item.NewItem)
		return
	}
	items := make([]BatchItem, len(members))
	for i, m := range members {
		items[i], m.count = m.item, len(members)
	}
	cards, err := first.side.CreateCards(ctx, first.bucket, items)
	r.Logger.Info("batch", "cards", len(items), "answered", len(cards), "err", err)
	deal(members, cards, err)
}

// deal gives each member the answered card that carries its marker, or the
// reason why it has none.
func deal(members []*batched, cards []mapping.Card, err error) {
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
		err = fmt.Errorf("%w of %d cards: %s", errRefusedBatch, len(members), refused.Words)
	case err == nil:
		err = fmt.Errorf("%w: the answer to a batch of %d cards does not show this one", mapping.ErrUncertain, len(members))
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

// sought is a card that is looked for by its marker.
type sought struct {
	link    mapping.LinkID
	partner string // the issue's id
	side    Planning
	keys    mapping.Keys

	found []mapping.Card // once it was acted
	err   error
}

// lookup visits the cards, of every bucket and sprint, that may be this link's.
// Keys of an import share one complete lookup.
func (w *work) lookup(ctx context.Context, take func(mapping.Card)) error {
	if w.link.Import == "" {
		return w.atPlanning().EachCard(ctx, func(c mapping.Card) error { take(c); return nil })
	}
	s := &sought{link: w.link.ID, partner: strconv.FormatInt(w.link.Issue.ID, 10), side: w.planning, keys: w.set.Keys}
	b := Batch{Project: w.link.Project, Name: "lookup", Act: together(lookForAll)}
	err := w.yieldSlot(ctx, func(ctx context.Context) error { return w.claimed().lease.Join(ctx, b, s) })
	if err == nil {
		err = s.err
	}
	if err != nil {
		return err
	}
	for _, c := range s.found {
		take(c)
	}
	return nil
}

// lookForAll makes one complete lookup for all who share it.
func lookForAll(ctx context.Context, members []*sought) {
	byLink, byPartner := map[mapping.LinkID]*sought{}, map[string]*sought{}
	for _, s := range members {
		byLink[s.link], byPartner[s.partner] = s, s
	}
	first := members[0]
	err := first.side.EachCard(ctx, func(c mapping.Card) error {
		_, marks := first.keys.Body(c.Summary.Value)
		for _, m := range marks {
			s := byLink[m.Link]
			if s == nil {
				s = byPartner[m.Partner]
			}
			if s != nil && m.Kind == mapping.MarkCard {
				s.found = append(s.found, c)
			}
		}
		return nil
	})
	for _, s := range members {
		s.err = err
	}
}
