package planning

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/goccy/go-json"

	"planbridge/mapping"
)

// BucketItems is a bucket with its cards.
type BucketItems struct {
	ID    mapping.ObjectID
	Title string
	Cards []mapping.Card
}

// Backlog reads all buckets with their cards (endpoint 2). Where there may be
// very many, [Client.BacklogEach] holds one card at a time.
func (c *Client) Backlog(ctx context.Context) ([]BucketItems, error) {
	var all []BucketItems
	err := c.backlog(ctx, nil, func(b *openBucket) error {
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

// BacklogEach visits all cards of all buckets as they arrive (endpoint 2), so
// that memory does not grow with their number. An error of visit ends it and
// is returned. Only a nil error means that every card was visited; after any
// other the visits made stand and are not repeated.
func (c *Client) BacklogEach(ctx context.Context, visit func(bucketID mapping.ObjectID, title string, card mapping.Card) error) error {
	return c.BacklogNews(ctx, nil, visit)
}

// BacklogNews is [Client.BacklogEach] without the cards of which known says,
// from how they are spelt in a bucket's listing, that they are known: those are
// not taken apart. The text is JSON, and known may read it while it runs.
func (c *Client) BacklogNews(ctx context.Context, known func(bucketID mapping.ObjectID, title string, text []byte) bool,
	visit func(bucketID mapping.ObjectID, title string, card mapping.Card) error,
) error {
	return c.backlog(ctx, known, func(*openBucket) error { return nil }, func(b *openBucket, card mapping.Card) error {
		if err := visit(b.id(), b.title(), card); err != nil {
			return &visitError{err}
		}
		return nil
	})
}

func (c *Client) backlog(ctx context.Context, known knows, open func(*openBucket) error, visit func(*openBucket, mapping.Card) error) error {
	k := c.read("backlog.items", "list backlog", "backlog/items")
	k.stream = func(r io.Reader) error {
		return decodeBacklog(json.NewDecoder(r), known, open, visit)
	}
	_, err := c.do(ctx, k)
	return err
}

// decoder is what a stream of tokens and values is read from: goccy/go-json's
// decoder, or encoding/json's where a test compares the two.
type decoder interface {
	Token() (json.Token, error)
	Decode(v any) error
	More() bool
}

// knows says of a card, as it is spelt, that it need not be taken apart.
type knows func(bucket mapping.ObjectID, title string, text []byte) bool

// openBucket is a bucket whose members are still arriving. Its id and name
// normally come before its cards; cards that come first are held.
type openBucket struct {
	wireBucket
	opened bool
	held   []wireCard
	known  knows // nil: no card is
	open   func(*openBucket) error
	visit  func(*openBucket, mapping.Card) error
}

func (b *openBucket) id() mapping.ObjectID { return mapping.ObjectID(or(b.ID, b.XID)) }
func (b *openBucket) title() string        { return string(or(b.Name, b.Title)) }

// decodeBacklog reads `[{bucket, id, items: [card …]} …]` card by card.
func decodeBacklog(d decoder, known knows, open func(*openBucket) error, visit func(*openBucket, mapping.Card) error) error {
	err := elements(d, '[', func() error {
		b := &openBucket{known: known, open: open, visit: visit}
		if err := elements(d, '{', func() error { return b.member(d) }); err != nil {
			return err
		}
		return b.flush()
	})
	if err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// elements reads an array or object that begins with begin and calls each once
// at every element or key.
func elements(d decoder, begin json.Delim, each func() error) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != begin {
		return fmt.Errorf("%v where %v was expected", t, begin)
	}
	return rest(d, each)
}

// rest is elements after the beginning.
func rest(d decoder, each func() error) error {
	for d.More() {
		if err := each(); err != nil {
			return err
		}
	}
	_, err := d.Token() // the end; anything else is the decoder's error
	return err
}

func (b *openBucket) member(d decoder) error {
	key, err := d.Token()
	if err != nil {
		return err
	}
	switch key {
	case "id":
		return d.Decode(&b.ID)
	case "_id":
		return d.Decode(&b.XID)
	case "bucket":
		return d.Decode(&b.Name)
	case "title":
		return d.Decode(&b.Title)
	case "items":
		return b.items(d)
	}
	var ignored json.RawMessage
	return d.Decode(&ignored)
}

// items reads the cards; null stands for none.
func (b *openBucket) items(d decoder) error {
	t, err := d.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("%v where the array of items was expected", t)
	}
	var raw json.RawMessage // one for all cards; nothing of a card refers to it
	return rest(d, func() error {
		if err := d.Decode(&raw); err != nil {
			return err
		}
		if b.known != nil && b.id() != "" && b.title() != "" && b.known(b.id(), b.title(), raw) {
			return b.begin()
		}
		var w wireCard
		if err := w.UnmarshalJSON(raw); err != nil {
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

// flush ends a bucket: what was held for want of its id or name is shown.
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
