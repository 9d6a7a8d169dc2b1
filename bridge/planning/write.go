package planning

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	goccy "github.com/goccy/go-json"

	"planbridge/mapping"
)

// Updated is the service's answer to a write: the version of the whole item (0 where missing) and
// the values and versions of its attributes. Attributes missing in the answer are absent.
type Updated struct {
	Version int64
	Values  map[mapping.Attribute]mapping.Versioned
	// Plain says why the summary's html has its text as plain paragraphs; "" where it was
	// rendered.
	Plain string
}

// Write is an update to make: the item, the user, and the attributes.
type Write struct {
	ID       mapping.ObjectID
	Card     bool // otherwise a task
	Username string
	Images   mapping.Images // how the html of a summary shows its images
	Set      map[mapping.Attribute]mapping.Versioned
}

// Change is one sent attribute of a [Write].
type Change struct {
	Attribute mapping.Attribute
	Value     string
	HTML      string // for a summary
	Version   int64
}

// writable reports whether the API can write the attribute of such an item. A card's state is its
// bucket, which the API cannot change.
func (u *Write) writable(attr mapping.Attribute) bool {
	return slices.Contains(mapping.Attributes, attr) && !(u.Card && attr.Spec().Tracked)
}

func (u *Write) fields() []string {
	names := make([]string, 0, len(u.Set))
	for attr := range u.Set {
		names = append(names, string(attr))
	}
	slices.Sort(names)
	return names
}

// Changes returns the sent attributes by name, or an error for one that the API cannot take.
// plain is that of [Updated].
func (u *Write) Changes() (changes []Change, plain string, err error) {
	if len(u.Set) == 0 {
		return nil, "", &mapping.Rejection{Message: "nothing to write"}
	}
	for _, name := range u.fields() {
		attr := mapping.Attribute(name)
		c := Change{Attribute: attr, Value: u.Set[attr].Value, Version: u.Set[attr].Version}
		if !u.writable(attr) {
			return nil, plain, &mapping.Rejection{Field: name, Message: "not an attribute the API can write here"}
		}
		switch attr.Spec().Form {
		case mapping.FormMarkdown:
			c.HTML, plain = RenderHTML(c.Value, u.Images)
		case mapping.FormNumber:
			if c.Value, err = estimateNumber(c.Value, u.Card); err != nil {
				return nil, plain, err
			}
		}
		changes = append(changes, c)
	}
	return changes, plain, nil
}

// body is the body of the PUT (docs/planning-api.md 4.2, 4.4).
func (u *Write) body(changes []Change) ([]byte, error) {
	type attribute struct {
		Value   any   `json:"value"`
		Version int64 `json:"version"`
	}
	members := map[string]any{"username": u.Username}
	for _, c := range changes {
		var value any = c.Value
		switch c.Attribute.Spec().Form {
		case mapping.FormMarkdown:
			value = map[string]string{"markdown": c.Value, "html": c.HTML}
		case mapping.FormNumber:
			value = json.Number(c.Value)
		}
		members[string(c.Attribute)] = attribute{value, c.Version}
	}
	return encode(members)
}

// estimateNumber converts an estimate to a JSON number. Story points are whole
// (docs/planning-api.md 8), and no documented value clears an estimate.
func estimateNumber(s string, whole bool) (string, error) {
	n, ok := ParseNumber(s)
	switch {
	case strings.TrimSpace(s) == "":
		return "", &mapping.Rejection{Field: "estimate", Message: "an estimate cannot be cleared through the API"}
	case !ok:
		return "", &mapping.Rejection{Field: "estimate", Message: fmt.Sprintf("not a number: %q", s)}
	case whole && strings.Contains(n, "."):
		return "", &mapping.Rejection{Field: "estimate", Message: "a card's estimate is a whole number, not " + n}
	}
	return n, nil
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

// update makes a PUT and reads its answer with [Write.Judge].
func (c *Client) update(ctx context.Context, k call, u Write) (Updated, error) {
	k.method, k.Request = http.MethodPut, u.Request()
	changes, plain, err := u.Changes()
	if err == nil {
		k.body, err = u.body(changes)
	}
	k.refuse(err)
	var done Updated
	k.refused = func(status int, body []byte) (err error) {
		done, err = u.Judge(u.read(status, body, c.errorMessage))
		return err
	}
	err = c.do(ctx, k)
	done.Plain = plain
	return done, err
}

// Draft is a card or task to make. An empty summary or estimate is left out.
type Draft struct{ Username, Title, Summary, Estimate string }

// Creation is several cards or tasks to make.
type Creation struct {
	In       mapping.ObjectID // the bucket, or the card of tasks
	Cards    bool             // otherwise tasks
	Username string           // the writing user, as a refusal would name them
	Drafts   []Draft
	Batch    bool // sent as an array
}

// Checked returns the drafts as they are sent, or an error for one that the API cannot take.
func (n *Creation) Checked() ([]Draft, error) {
	out := slices.Clone(n.Drafts)
	for i := range out {
		if out[i].Estimate == "" {
			continue
		}
		var err error
		if out[i].Estimate, err = estimateNumber(out[i].Estimate, n.Cards); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// body is an item's part of a create body (docs/planning-api.md 4.1, 4.3).
func (d *Draft) body() map[string]any {
	value := func(v any) map[string]any { return map[string]any{"value": v} }
	members := map[string]any{"username": d.Username, "title": value(d.Title)}
	if d.Summary != "" {
		members["summary"] = value(map[string]string{"markdown": d.Summary})
	}
	if d.Estimate != "" {
		members["estimate"] = value(json.Number(d.Estimate))
	}
	return members
}

// body is the body of the POST: one item or, as a batch, an array of them.
func (n *Creation) body() ([]byte, error) {
	checked, err := n.Checked()
	if err != nil {
		return nil, err
	}
	bodies := make([]map[string]any, len(checked))
	for i := range checked {
		bodies[i] = checked[i].body()
	}
	if !n.Batch {
		return encode(bodies[0])
	}
	return encode(bodies)
}

// create posts items. The answer may be an object or an array for either form of request. It
// returns answered items also beside an error. Fewer items than sent leave the outcome unknown.
func create[W, T any](ctx context.Context, c *Client, k call, n Creation, convert func(*W) (T, error)) ([]T, error) {
	if len(n.Drafts) == 0 {
		return nil, nil
	}
	k.method, k.Request = http.MethodPost, n.Request()
	var err error
	k.body, err = n.body()
	k.refuse(err)
	var made []T
	k.take = func(answer []byte) (err error) {
		made, err = readCreated(answer, len(n.Drafts), convert)
		return err
	}
	err = c.do(ctx, k)
	return made, err
}

// partial lists the items of a create's answer that lack sent attributes. The document promises
// all of them (docs/planning-api.md 4.1, 4.3), but a missing one must not count as empty. These
// items are read.
type partial struct {
	summary, estimate bool // were sent
	ids               map[mapping.ObjectID]bool
}

func partialOf(drafts []Draft) *partial {
	return &partial{
		summary:  slices.ContainsFunc(drafts, func(d Draft) bool { return d.Summary != "" }),
		estimate: slices.ContainsFunc(drafts, func(d Draft) bool { return d.Estimate != "" }),
		ids:      map[mapping.ObjectID]bool{},
	}
}

// noteMissing notes an item whose answer lacks attributes.
func (p *partial) noteMissing(id oid, title text, summary rich, estimate versioned[number]) {
	if title == "" || p.summary && summary == "" || p.estimate && !estimate.Told {
		p.ids[mapping.ObjectID(id)] = true
	}
}

// complete reads the partial items. Where one cannot be read the outcome is unknown: it exists
// and must be looked up.
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
		err = fmt.Errorf("%s answered of %d", mapping.Count(len(made), "item", "items"), want)
	}
	return made, err
}
