package planning

import (
	"bytes"
	"context"
	"errors"

	"github.com/goccy/go-json"

	"planbridge/mapping"
)

// errNoID refuses an element without an id, which no request could name. A listing with such an
// element proves no absence.
var errNoID = errors.New("element without _id")

// wireCard is a card in the service's JSON (docs/planning-api.md 2.4).
type wireCard struct {
	ID        oid
	CID       integer
	Version   integer
	Title     versioned[text]
	Summary   versioned[rich]
	Estimate  versioned[number]
	State     versioned[bucketState]
	Iteration versioned[oid]
	Review    versioned[text]
	Counters  versioned[counters]
	TP        flag
	Tasks     nested
}

// UnmarshalJSON reads the members of a card by hand, as this is most of a poll's work (see
// scan.go).
func (w *wireCard) UnmarshalJSON(raw []byte) error {
	if raw[0] != '{' {
		return errors.New("a card that is no object")
	}
	*w = wireCard{}
	for key, value := range members(raw) {
		if m := w.member(key); m != nil {
			if err := m.UnmarshalJSON(value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *wireCard) member(key []byte) reader {
	switch string(key) {
	case "_id":
		return &w.ID
	case "cid":
		return &w.CID
	case "version":
		return &w.Version
	case "title":
		return &w.Title
	case "summary":
		return &w.Summary
	case "estimate":
		return &w.Estimate
	case "state":
		return &w.State
	case "iteration":
		return &w.Iteration
	case "iterationReview":
		return &w.Review
	case "taskCounters":
		return &w.Counters
	case "isStandaloneTP":
		return &w.TP
	case "tasks":
		return &w.Tasks
	}
	return nil
}

// nested are the tasks inside a card in some sprint listings. Where the member holds anything
// else, the card's tasks are unknown.
type nested []wireTask

func (n *nested) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' || json.Unmarshal(raw, (*[]wireTask)(n)) != nil {
		*n = nil
	}
	return nil
}

// counters is an aggregate over tasks, nil where missing; its numbers may be floats, and parts
// may be missing.
type counters struct{ *mapping.Counters }

func (c *counters) UnmarshalJSON(raw []byte) error {
	c.Counters = nil
	if raw[0] != '{' {
		return nil
	}
	c.Counters = &mapping.Counters{}
	for key, value := range members(raw) {
		switch string(key) {
		case "status":
			c.Status = string(scalar(value))
		case "done":
			c.Done = float(value)
		case "todo":
			c.Todo = float(value)
		case "inProgress":
			c.InProgress = float(value)
		case "total":
			c.Total = float(value)
		}
	}
	return nil
}

// card converts. bucket and name are those of the card's listing. Without a listing, the card's
// own state names the bucket.
func (w *wireCard) card(bucket mapping.ObjectID, name string) (mapping.Card, error) {
	if w.ID == "" {
		return mapping.Card{}, errNoID
	}
	c := mapping.Card{
		ID:              mapping.ObjectID(w.ID),
		CID:             int64(w.CID),
		Version:         int64(w.Version),
		Title:           mapping.Versioned{Value: string(w.Title.Value), Version: w.Title.Version},
		Summary:         mapping.Versioned{Value: string(w.Summary.Value), Version: w.Summary.Version},
		Estimate:        mapping.Versioned{Value: string(w.Estimate.Value), Version: w.Estimate.Version},
		BucketName:      name,
		Iteration:       mapping.ObjectID(w.Iteration.Value),
		Review:          string(w.Review.Value),
		Counters:        w.Counters.Value.Counters,
		CountersVersion: w.Counters.Version,
		Placeholder:     bool(w.TP),
	}
	c.Bucket, c.StateID = CardPlace(bucket, mapping.ObjectID(w.State.Value))
	if w.Tasks != nil {
		c.Tasks, _ = mapTasks(w.Tasks, c.ID) // nil, so unknown, where one has no id
	}
	return c, nil
}

// CardPlace returns the bucket of a card from the bucket that lists it and the one that its state
// names; either may be "". The result stateID is the state where the two differ.
func CardPlace(listed, state mapping.ObjectID) (bucket, stateID mapping.ObjectID) {
	switch listed {
	case "", state:
		return state, ""
	}
	return listed, state
}

// Card reads one card (endpoint 11).
func (c *Client) Card(ctx context.Context, id mapping.ObjectID) (mapping.Card, error) {
	k := c.read("card.get", "read card "+string(id), "items", id)
	return get(ctx, c, k, func(w *wireCard) (mapping.Card, error) { return w.card("", "") })
}

// BucketCards reads the cards of one bucket (endpoint 5).
func (c *Client) BucketCards(ctx context.Context, bucket mapping.ObjectID) ([]mapping.Card, error) {
	k := c.read("bucket.cards", "list cards of bucket "+string(bucket), "backlog/buckets", bucket, "items")
	return list(ctx, c, k, func(w *wireCard) (mapping.Card, error) { return w.card(bucket, "") })
}

// NewCard is a card to make. An empty summary or estimate is left out; the estimate is a whole
// number of story points in decimal text.
type NewCard struct{ Title, Summary, Estimate string }

// CreateCard makes one card in a bucket (endpoint 6), in the name of a project member who may
// write. After a lost or unintelligible answer it returns [mapping.ErrUncertain]: the card may
// exist.
func (c *Client) CreateCard(ctx context.Context, bucket mapping.ObjectID, username string, card NewCard) (mapping.Card, error) {
	n := NewCards(bucket, []UserCard{{username, card}})
	n.Batch = false
	made, err := c.makeCards(ctx, n)
	return first(made), err
}

// CreateCards makes several cards with one request. It returns the answered cards in the answer's
// order, which may differ from the request's. Where the answer has fewer cards than the request,
// they come with [mapping.ErrUncertain].
func (c *Client) CreateCards(ctx context.Context, bucket mapping.ObjectID, username string, cards []NewCard) ([]mapping.Card, error) {
	named := make([]UserCard, len(cards))
	for i, card := range cards {
		named[i] = UserCard{username, card}
	}
	return c.CreateCardsBy(ctx, bucket, named)
}

// UserCard is a card to make in the name of a user.
type UserCard struct {
	Username string
	NewCard
}

// CreateCardsBy is [Client.CreateCards] with a user for each card.
func (c *Client) CreateCardsBy(ctx context.Context, bucket mapping.ObjectID, cards []UserCard) ([]mapping.Card, error) {
	return c.makeCards(ctx, NewCards(bucket, cards))
}

// NewCards is the creation of cards, each in the name of its user.
func NewCards(bucket mapping.ObjectID, cards []UserCard) Creation {
	n := Creation{In: bucket, Cards: true, Batch: true, Drafts: make([]Draft, len(cards))}
	for i, card := range cards {
		n.Username = card.Username
		n.Drafts[i] = Draft{card.Username, card.Title, card.Summary, card.Estimate}
	}
	return n
}

func (c *Client) makeCards(ctx context.Context, n Creation) ([]mapping.Card, error) {
	p := partialOf(n.Drafts)
	made, err := create(ctx, c, c.read("card.create", "", "backlog/buckets", n.In, "items"), n, func(w *wireCard) (mapping.Card, error) {
		p.noteMissing(w.ID, w.Title.Value, w.Summary.Value, w.Estimate)
		return w.card(n.In, "")
	})
	return complete(ctx, p, made, err, func(made mapping.Card) mapping.ObjectID { return made.ID },
		func(ctx context.Context, made mapping.Card) (mapping.Card, error) {
			return get(ctx, c, c.read("card.get", "read card "+string(made.ID), "items", made.ID),
				func(w *wireCard) (mapping.Card, error) { return w.card(n.In, "") })
		})
}

// UpdateCard writes attributes of a card under their versions (endpoint 12). The result has the
// service's values. They differ from the sent ones after a normalisation (see [SameRendering]) or
// another person's edit. A card's title, summary and estimate can be written, but no state.
// images says how the html of a summary shows its images.
func (c *Client) UpdateCard(ctx context.Context, id mapping.ObjectID, username string, images mapping.Images, set map[mapping.Attribute]mapping.Versioned) (Updated, error) {
	return c.update(ctx, c.read("card.update", "", "items", id), Write{ID: id, Card: true, Username: username, Images: images, Set: set})
}

// get reads one object.
func get[W, T any](ctx context.Context, c *Client, k call, convert func(*W) (T, error)) (T, error) {
	var out T
	k.take = func(body []byte) error {
		if !startsWith(body, '{') {
			return errors.New("not an object")
		}
		var w W
		if err := json.Unmarshal(body, &w); err != nil {
			return err
		}
		var err error
		out, err = convert(&w)
		return err
	}
	err := c.do(ctx, k)
	return out, err
}

// list reads an array.
func list[W, T any](ctx context.Context, c *Client, k call, convert func(*W) (T, error)) ([]T, error) {
	return decoded(ctx, c, k, func(body []byte) ([]T, error) { return listOf(body, convert) })
}

// decoded reads a whole answer.
func decoded[T any](ctx context.Context, c *Client, k call, read func(body []byte) (T, error)) (out T, err error) {
	k.take = func(body []byte) (err error) {
		out, err = read(body)
		return err
	}
	if err := c.do(ctx, k); err != nil {
		var none T
		return none, err
	}
	return out, nil
}

// listOf converts the elements of an answer that is an array.
func listOf[W, T any](body []byte, convert func(*W) (T, error)) ([]T, error) {
	if !startsWith(body, '[') {
		return nil, errors.New("not an array")
	}
	return convertAll(body, convert)
}

func convertAll[W, T any](body []byte, convert func(*W) (T, error)) ([]T, error) {
	var elements []W
	if err := json.Unmarshal(body, &elements); err != nil {
		return nil, err
	}
	out := make([]T, 0, len(elements))
	for i := range elements {
		t, err := convert(&elements[i])
		if err != nil {
			return out, err
		}
		out = append(out, t)
	}
	return out, nil
}

// startsWith reports whether a body starts with c, which tells objects, arrays and other values
// apart.
func startsWith(body []byte, c byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) > 0 && body[0] == c
}

func first[T any](all []T) (t T) {
	if len(all) > 0 {
		t = all[0]
	}
	return t
}
