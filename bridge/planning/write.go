package planning

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	goccy "github.com/goccy/go-json"

	"planbridge/mapping"
)

// Updated is what the service answered to a write: the version of the whole
// item (0 where the answer does not say) and the values and versions of its
// attributes. Attributes that the answer does not carry are absent.
type Updated struct {
	Version int64
	Values  map[mapping.Attribute]mapping.Versioned
}

// update is one PUT: its item, who writes, and what.
type update struct {
	id       mapping.ObjectID
	username string
	sent     map[mapping.Attribute]mapping.Versioned
	card     bool // and not a task
}

// writable reports whether the API can write the attribute of such an item: a
// card's state is its bucket, which the API cannot change.
func (u *update) writable(attr mapping.Attribute) bool {
	return slices.Contains(mapping.Attributes, attr) && !(u.card && attr == mapping.State)
}

func (u *update) fields() []string {
	var names []string
	for _, attr := range slices.Sorted(maps.Keys(u.sent)) {
		names = append(names, string(attr))
	}
	return names
}

// body makes the body of the PUT (planning-api.md 4.2, 4.4), or says which
// attribute the API cannot take.
func (u *update) body() ([]byte, error) {
	if len(u.sent) == 0 {
		return nil, &mapping.Rejection{Words: "nothing to write"}
	}
	type attribute struct {
		Value   any   `json:"value"`
		Version int64 `json:"version"`
	}
	members := map[string]any{"username": u.username}
	for attr, v := range u.sent {
		if !u.writable(attr) {
			return nil, &mapping.Rejection{Field: string(attr), Words: "not an attribute the API can write here"}
		}
		var value any = v.Value
		switch attr {
		case mapping.Summary:
			value = map[string]string{"markdown": v.Value, "html": RenderHTML(v.Value)}
		case mapping.Estimate:
			n, err := estimateNumber(v.Value, u.card)
			if err != nil {
				return nil, err
			}
			value = n
		}
		members[string(attr)] = attribute{value, v.Version}
	}
	return encode(members)
}

// estimateNumber makes the JSON number of an estimate. Story points are whole
// (planning-api.md 8), and no documented value clears an estimate.
func estimateNumber(s string, whole bool) (json.Number, error) {
	n, ok := ParseNumber(s)
	switch {
	case strings.TrimSpace(s) == "":
		return "", &mapping.Rejection{Field: "estimate", Words: "an estimate cannot be cleared through the API"}
	case !ok:
		return "", &mapping.Rejection{Field: "estimate", Words: fmt.Sprintf("not a number: %q", s)}
	case whole && strings.Contains(n, "."):
		return "", &mapping.Rejection{Field: "estimate", Words: "a card's estimate is a whole number, not " + n}
	}
	return json.Number(n), nil
}

// encode writes JSON without HTML's escapes, which would only lengthen it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// update makes a PUT and reads its answer with [update.judge].
func (c *Client) update(ctx context.Context, k call, u update) (Updated, error) {
	k.method = http.MethodPut
	k.sent, k.username = u.fields(), u.username
	body, err := u.body()
	if err != nil {
		k.invalid = err
	}
	k.body = body
	var done Updated
	k.refused = func(status int, body []byte) (err error) {
		done, err = u.judge(status, body, sync.OnceValue(func() string { return c.words(body) }))
		return err
	}
	_, err = c.do(ctx, k)
	return done, err
}

// item is a card or task to be made.
type item struct {
	title, summary, estimate string
	whole                    bool   // its estimate is a whole number
	username                 string // in whose name; "": the request's
}

// body makes the create body of one item (planning-api.md 4.1, 4.3).
func (i item) body(username string) (map[string]any, error) {
	value := func(v any) map[string]any { return map[string]any{"value": v} }
	if i.username != "" {
		username = i.username
	}
	members := map[string]any{"username": username, "title": value(i.title)}
	if i.summary != "" {
		members["summary"] = value(map[string]string{"markdown": i.summary})
	}
	if i.estimate != "" {
		n, err := estimateNumber(i.estimate, i.whole)
		if err != nil {
			return nil, err
		}
		members["estimate"] = value(n)
	}
	return members, nil
}

// create posts one item or, as a batch, an array of them. The answer may be an
// object or an array whatever was sent. Items that were answered are returned
// also beside an error; fewer than were sent leave the outcome unknown.
func create[W, T any](ctx context.Context, c *Client, k call, username string, items []item, batch bool, convert func(*W) (T, error)) ([]T, error) {
	if len(items) == 0 {
		return nil, nil
	}
	k.sent, k.username = []string{"title", "summary", "estimate"}, username
	var body any
	bodies := make([]map[string]any, len(items))
	for i := range items {
		var err error
		if bodies[i], err = items[i].body(username); err != nil {
			k.invalid = err
		}
	}
	if body = bodies; !batch {
		body = bodies[0]
	}
	encoded, err := encode(body)
	if err != nil {
		k.invalid = err
	}
	k.body = encoded
	var made []T
	k.take = func(answer []byte) (err error) {
		made, err = readCreated(answer, len(items), convert)
		return err
	}
	_, err = c.do(ctx, k)
	return made, err
}

// partial are the items of a create's answer that lack what was sent. The
// document has it all there (planning-api.md 4.1, 4.3), but what is absent must
// not be taken for empty: these are read.
type partial struct {
	summary, estimate bool // were sent
	ids               map[mapping.ObjectID]bool
}

func partialOf(items []item) *partial {
	return &partial{
		summary:  slices.ContainsFunc(items, func(i item) bool { return i.summary != "" }),
		estimate: slices.ContainsFunc(items, func(i item) bool { return i.estimate != "" }),
		ids:      map[mapping.ObjectID]bool{},
	}
}

// look notes an item whose answer does not tell all of its attributes.
func (p *partial) look(id oid, title text, summary rich, estimate versioned[number]) {
	if title == "" || p.summary && summary == "" || p.estimate && !estimate.Told {
		p.ids[mapping.ObjectID(id)] = true
	}
}

// complete reads those of made that were not told in full. The outcome is
// unknown where one cannot be read: it is there, and has to be looked for.
func complete[T any](ctx context.Context, p *partial, made []T, err error, id func(T) mapping.ObjectID, read func(context.Context, T) (T, error)) ([]T, error) {
	whole := made[:0]
	for _, t := range made {
		if !p.ids[id(t)] {
			whole = append(whole, t)
			continue
		}
		if now, bad := read(ctx, t); bad == nil {
			whole = append(whole, now)
		} else if err == nil {
			err = fmt.Errorf("%w: what was made is not told in full: %s", mapping.ErrUncertain, bad.Error()) // and no fault of its kind
		}
	}
	return whole, err
}

func readCreated[W, T any](answer []byte, want int, convert func(*W) (T, error)) ([]T, error) {
	if startsWith(answer, '{') {
		var w W
		if err := goccy.Unmarshal(answer, &w); err != nil {
			return nil, err
		}
		t, err := convert(&w)
		if err != nil {
			return nil, err
		}
		if want > 1 {
			return []T{t}, fmt.Errorf("1 item answered of %d", want)
		}
		return []T{t}, nil
	}
	if !startsWith(answer, '[') {
		return nil, errors.New("neither an object nor an array")
	}
	made, err := convertAll(answer, convert)
	if err == nil && len(made) < want {
		err = fmt.Errorf("%d items answered of %d", len(made), want)
	}
	return made, err
}
