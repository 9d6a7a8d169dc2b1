package planningtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
)

// draft is an element of a create body, checked (parts 4.1 and 4.3).
type draft struct {
	by       author
	settings []setting
}

// createCards is endpoint 6.
func (c *call) createCards() (any, error) {
	b, err := c.bucket()
	if err != nil {
		return nil, err
	}
	return c.create(card, func(d draft) *item {
		k := c.p.newCard(b, d.by, d.settings...)
		if e := &k.attrs[estimate]; c.t.CreateEstimateVersion1 && e.value != "" {
			e.version = 1
			e.past[0].Version = 1
		}
		return k
	})
}

// createTasks is endpoint 14.
func (c *call) createTasks() (any, error) {
	k, err := c.item(card)
	if err != nil {
		return nil, err
	}
	return c.create(task, func(d draft) *item { return c.p.newTask(k, d.by, d.settings...) })
}

// create makes one item or a batch. Every element is checked before the first
// is made.
func (c *call) create(k kind, add func(draft) *item) (any, error) {
	var elements []json.RawMessage
	batch := bytes.HasPrefix(bytes.TrimSpace(c.body), []byte("["))
	if !batch {
		elements = append(elements, c.body)
	} else if err := json.Unmarshal(c.body, &elements); err != nil {
		return nil, refuse(http.StatusBadRequest, "the body is no JSON: %v", err)
	}
	if c.t.MaxBatch > 0 && len(elements) > c.t.MaxBatch {
		return nil, c.refused("a batch holds at most %d elements", c.t.MaxBatch)
	}
	drafts := make([]draft, len(elements))
	for i, e := range elements {
		var err error
		if drafts[i], err = c.parseNew(k, e); err != nil {
			return nil, err
		}
	}
	made := []*item{}
	for i, d := range drafts {
		if c.fault.is(PartialBatch) && i == c.fault.N {
			return nil, nil // the fault has its own answer
		}
		made = append(made, add(d))
	}
	return c.created(made, batch), nil
}

// created is the answer to a create.
func (c *call) created(made []*item, batch bool) any {
	c.html = true
	list := []object{}
	for _, it := range made {
		if it.kind == card {
			list = append(list, c.card(c.p, it, false))
		} else {
			list = append(list, c.task(c.p, it))
		}
	}
	if batch {
		numbered(list)
	}
	if c.t.OmitOptional {
		for _, o := range list {
			for _, name := range []string{"owner", "ownerType", "type", "timeEntriesTotal", "_order"} {
				delete(o, name)
			}
		}
	}
	if !batch {
		return list[0]
	}
	switch c.t.BatchOrder {
	case BatchReversed:
		slices.Reverse(list)
	case BatchShuffled:
		c.s.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return list
}

func (c *call) parseNew(k kind, body []byte) (draft, error) {
	fields, user, err := c.fields(body, title, summary, estimate)
	d := draft{by: author{user, true}}
	if err != nil {
		return d, err
	}
	for _, f := range fields {
		if f.Version != nil {
			return d, refuse(http.StatusBadRequest, "%s: a new attribute has no version", attrNames[f.attr])
		}
		if f.attr == estimate && k == card {
			f.Value = unquoted(f.Value) // only here is a numeric string taken (4.1)
		}
		v, _, err := c.parseValue(k, f)
		if err != nil {
			return d, err
		}
		d.settings = append(d.settings, setting{f.attr, v})
	}
	return d, nil
}

// unquoted turns a JSON string into the JSON that it holds.
func unquoted(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return json.RawMessage(text)
	}
	return raw
}
