package planningtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// field is an attribute as a body carries it.
type field struct {
	attr    attrName
	Value   json.RawMessage `json:"value"`
	Version *int64          `json:"version"`
}

// fields takes a body of a write apart: the username, which is checked, and
// the attributes, of which only those allowed may be there.
func (c *call) fields(body []byte, allowed ...attrName) ([]field, string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, "", refuse(http.StatusBadRequest, "the body is no JSON object: %v", err)
	}
	var user string
	json.Unmarshal(members["username"], &user) //nolint:errcheck // what is no string is no member either
	if err := c.member(user); err != nil {
		return nil, "", err
	}
	delete(members, "username")
	var out []field
	for _, name := range slices.Sorted(maps.Keys(members)) {
		i := slices.Index(attrNames[:], name)
		if i < 0 || !slices.Contains(allowed, attrName(i)) {
			return nil, "", refuse(http.StatusBadRequest, "%s cannot be written here", name)
		}
		f := field{attr: attrName(i)}
		if err := strict(members[name], &f); err != nil || f.Value == nil {
			return nil, "", refuse(http.StatusBadRequest, "%s: want {value, version}: %v", name, err)
		}
		out = append(out, f)
	}
	return out, user, nil
}

func strict(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func (c *call) refused(format string, args ...any) error {
	return refuse(or(c.t.RefusalStatus, http.StatusBadRequest), format, args...)
}

// parseValue checks the value of a field and returns it as it is to be
// stored; html is what a summary brought of it.
func (c *call) parseValue(k kind, f field) (value, html string, err error) {
	switch f.attr {
	case title:
		if json.Unmarshal(f.Value, &value) != nil || string(f.Value) == "null" {
			return "", "", c.refused("title is not a string")
		}
		if c.t.MaxTitle > 0 && utf8.RuneCountInString(value) > c.t.MaxTitle {
			return "", "", c.refused("title is longer than %d characters", c.t.MaxTitle)
		}
		return value, "", nil
	case summary:
		var text struct {
			Markdown *string `json:"markdown"`
			HTML     string  `json:"html"`
		}
		if strict(f.Value, &text) != nil || text.Markdown == nil {
			return "", "", c.refused("summary is not {markdown, html}")
		}
		return c.t.stored(*text.Markdown), text.HTML, nil
	case estimate:
		value, err = c.parseEstimate(k, f.Value)
		return value, "", err
	}
	json.Unmarshal(f.Value, &value) //nolint:errcheck // what is no string is no state either
	if !slices.Contains([]string{"todo", "in-progress", "done"}, value) {
		return "", "", c.refused("state is none of todo, in-progress, done")
	}
	return value, "", nil
}

func (c *call) parseEstimate(k kind, raw json.RawMessage) (string, error) {
	var v *float64
	if json.Unmarshal(raw, &v) != nil || v == nil {
		return "", c.refused("estimate is not a number")
	}
	if c.t.RefuseEstimate && *v < 0 {
		return "", c.refused("estimate is negative")
	}
	if c.t.RefuseEstimate && k == card && *v != float64(int64(*v)) {
		return "", c.refused("estimate is not an integer")
	}
	return decimal(v), nil
}

// updateCard is endpoint 12.
func (c *call) updateCard() (any, error) {
	return c.update(card, title, summary, estimate)
}

// updateTask is endpoint 16.
func (c *call) updateTask() (any, error) {
	return c.update(task, title, summary, estimate, state)
}

// update writes all attributes of the body or, where one of them is not at
// the version that the body says, none (4.2 rules 1 to 4).
func (c *call) update(k kind, allowed ...attrName) (any, error) {
	it, err := c.item(k)
	if err != nil {
		return nil, err
	}
	fields, user, err := c.fields(c.body, allowed...)
	if err != nil {
		return nil, err
	}
	var names, stale []attrName
	var settings []setting
	html := ""
	for _, f := range fields {
		value, h, err := c.parseValue(k, f)
		if err != nil {
			return nil, err
		}
		if f.Version == nil {
			return nil, refuse(http.StatusBadRequest, "%s: version is required", attrNames[f.attr])
		}
		if current := it.attrs[f.attr].version; *f.Version != current && *f.Version != -1 {
			stale = append(stale, f.attr)
		}
		if f.attr == summary {
			html = h
		}
		names = append(names, f.attr)
		settings = append(settings, setting{f.attr, value})
	}
	if stale != nil {
		return nil, c.conflict(it, names, stale)
	}
	stateWas := it.attrs[state].version
	c.p.write(it, author{user, true}, settings...)
	if html != "" {
		it.html = html
	}
	out := c.updated(it, names)
	if v, ok := out["state"].(versioned); ok && k == task && c.t.StateVersionSticks {
		v.Version = stateWas
		out["state"] = v
	}
	return out, nil
}

// updated is the answer to an update (4.2 rule 5, 4.4).
func (c *call) updated(it *item, names []attrName) object {
	c.html = true
	out := object{"_id": c.oid(it.id), "version": it.version, "project": c.constant(c.oid(c.p.id))}
	c.put(out, it, names...)
	if it.kind == card {
		c.put(out, it, iteration)
		out["state"] = c.cardState(it)
	} else {
		out["owner"] = c.constant(c.oid(it.card.id))
	}
	if c.t.UnknownFields {
		out["milestone"] = c.constant(nil)
	}
	return out
}

// conflict refuses an update with the current values (4.2 rule 3; neither
// status nor shape is documented).
func (c *call) conflict(it *item, names, stale []attrName) error {
	var words []string
	for _, name := range stale {
		words = append(words, fmt.Sprintf("%s is at version %d", attrNames[name], it.attrs[name].version))
	}
	message := "version conflict: " + strings.Join(words, ", ")
	status := or(c.t.ConflictStatus, http.StatusConflict)
	current := c.updated(it, names)
	switch c.t.ConflictShape {
	case ConflictItem:
		whole := c.card
		if it.kind == task {
			whole = func(p *Project, it *item, _ bool) object { return c.task(p, it) }
		}
		return &refusal{status, object{"error": message, "item": whole(c.p, it, false)}}
	case ConflictCurrent:
		return &refusal{status, object{"error": message, "current": current}}
	case ConflictErrors:
		var list []object
		for _, name := range names {
			list = append(list, object{"attribute": attrNames[name], "message": message, "current": c.value(it, name)})
		}
		return &refusal{status, object{"errors": list}}
	case ConflictEmpty:
		return &refusal{status, object{"error": "version conflict"}}
	case ConflictText:
		return &refusal{status, message}
	case ConflictArray:
		return &refusal{status, []object{current}}
	}
	return &refusal{status, current}
}
