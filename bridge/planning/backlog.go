package planning

import (
	"context"
	"fmt"
	"io"

	"planbridge/mapping"
)

// BucketItems is a bucket with its cards.
type BucketItems struct {
	ID    mapping.ObjectID
	Title string
	Cards []mapping.Card
}

// Backlog reads all buckets with their cards (endpoint 2). For very many cards, use
// [Client.BacklogEach], which holds one card at a time.
func (c *Client) Backlog(ctx context.Context) ([]BucketItems, error) {
	var all []BucketItems
	err := c.backlog(ctx, nil, nil, func(b *openBucket) error {
		all = append(all, BucketItems{ID: b.id(), Title: b.title()})
		return nil
	}, func(b *openBucket, card mapping.Card) error {
		last := &all[len(all)-1]
		last.Cards = append(last.Cards, card)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// BacklogEach visits all cards of all buckets as they arrive (endpoint 2), so that memory does
// not grow with their number. It ends with the first error of visit and returns it. A nil error
// means that it visited every card. After any other error some cards were visited, and are not
// visited again.
func (c *Client) BacklogEach(ctx context.Context, visit func(bucketID mapping.ObjectID, title string, card mapping.Card) error) error {
	_, _, err := c.BacklogNews(ctx, "", nil, visit)
	return err
}

// BacklogNews is [Client.BacklogEach] without the cards for which known returns true, which it does
// not decode. The function known gets a card's JSON in a bucket's listing without the card's
// position, and the id as a part of that text. It may read both until it returns.
//
// The tag is that of the answer, "" where it has none. Where the backlog is unchanged since the
// answer with the tag since, it visits no card.
func (c *Client) BacklogNews(ctx context.Context, since string, known func(bucketID mapping.ObjectID, title string, id, text []byte) bool,
	visit func(bucketID mapping.ObjectID, title string, card mapping.Card) error,
) (tag string, unchanged bool, err error) {
	asked := condition{since: since}
	err = c.backlog(ctx, &asked, known, func(*openBucket) error { return nil }, func(b *openBucket, card mapping.Card) error {
		if err := visit(b.id(), b.title(), card); err != nil {
			return &visitError{err}
		}
		return nil
	})
	if err != nil {
		return "", false, err
	}
	return asked.tag, asked.unchanged, nil
}

func (c *Client) backlog(ctx context.Context, asked *condition, known knows, open func(*openBucket) error, visit func(*openBucket, mapping.Card) error) error {
	k := c.read("backlog.items", "list backlog", "backlog/items")
	k.condition = asked
	k.stream = func(r io.Reader) error {
		return readBacklog(newStream(r), known, open, visit)
	}
	err := c.do(ctx, k)
	return err
}

// knows reports whether a card with this text, without its position in the list, need not be
// decoded. The id is a part of the text, empty where only decoding can find it.
type knows func(bucket mapping.ObjectID, title string, id, text []byte) bool

// openBucket is a bucket whose members still arrive. Its id and name normally come before its
// cards; earlier cards are held.
type openBucket struct {
	wireBucket
	opened bool
	held   []wireCard
	known  knows // nil: all cards are decoded
	open   func(*openBucket) error
	visit  func(*openBucket, mapping.Card) error
}

func (b *openBucket) id() mapping.ObjectID { return mapping.ObjectID(or(b.ID, b.XID)) }
func (b *openBucket) title() string        { return string(or(b.Name, b.Title)) }

// readBacklog reads `[{bucket, id, items: [card …]} …]` card by card.
func readBacklog(s *stream, known knows, open func(*openBucket) error, visit func(*openBucket, mapping.Card) error) error {
	err := s.elements('[', func() error {
		b := &openBucket{known: known, open: open, visit: visit}
		if err := s.elements('{', func() error { return b.member(s) }); err != nil {
			return err
		}
		return b.flush()
	})
	if err != nil {
		return err
	}
	return s.done()
}

func (b *openBucket) member(s *stream) error {
	key, err := s.key()
	if err != nil {
		return err
	}
	if key == "items" {
		return b.items(s)
	}
	raw, err := s.value(anyValue)
	if err != nil {
		return err
	}
	switch key {
	case "id":
		return b.ID.UnmarshalJSON(raw)
	case "_id":
		return b.XID.UnmarshalJSON(raw)
	case "bucket":
		return b.Name.UnmarshalJSON(raw)
	case "title":
		return b.Title.UnmarshalJSON(raw)
	}
	return nil
}

// items reads the cards; null is an empty list.
func (b *openBucket) items(s *stream) error {
	c, err := s.next()
	if err != nil {
		return unexpected(err)
	}
	if c != '[' {
		raw, err := s.value(anyValue)
		if err == nil && string(raw) != "null" {
			err = fmt.Errorf("%.20q where the array of items was expected", raw)
		}
		return err
	}
	var o outline
	return s.elements('[', func() error {
		raw, err := s.value(o.skip)
		if err != nil {
			return err
		}
		text, id := o.withoutOrder(raw)
		if b.known != nil && b.id() != "" && b.title() != "" && b.known(b.id(), b.title(), id, text) {
			return b.begin()
		}
		var w wireCard
		if err := w.UnmarshalJSON(text); err != nil {
			return err
		}
		return b.card(&w)
	})
}

func (b *openBucket) card(w *wireCard) error {
	if b.id() == "" || b.title() == "" {
		b.held = append(b.held, *w)
		return nil
	}
	return b.show(w)
}

func (b *openBucket) show(w *wireCard) error {
	if err := b.begin(); err != nil {
		return err
	}
	card, err := w.card(b.id(), b.title())
	if err != nil {
		return err
	}
	return b.visit(b, card)
}

func (b *openBucket) begin() error {
	if b.opened {
		return nil
	}
	if b.id() == "" {
		return errNoID
	}
	b.opened = true
	return b.open(b)
}

// flush ends a bucket: it visits the cards held until the id or name came.
func (b *openBucket) flush() error {
	if err := b.begin(); err != nil {
		return err
	}
	for i := range b.held {
		if err := b.show(&b.held[i]); err != nil {
			return err
		}
	}
	return nil
}
