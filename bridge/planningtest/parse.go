package planningtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"planbridge/bridge/planningtest/planningmodel"
)

// reader reads the body of a write: the kind of item, whether it creates one, and the allowed
// attributes. It checks each piece in order, so that it reports the first of several faults.
type reader struct {
	*call
	kind    planningmodel.Kind
	creates bool
	allowed []planningmodel.Attr
}

// drafts splits the body of a create: one element or a batch of them (parts 4.1 and 4.3).
func (r reader) drafts() (drafts []planningmodel.Draft, batch bool, err error) {
	var elements []json.RawMessage
	batch = bytes.HasPrefix(bytes.TrimSpace(r.body), []byte("["))
	if !batch {
		elements = append(elements, r.body)
	} else if err := json.Unmarshal(r.body, &elements); err != nil {
		return nil, batch, refuse(http.StatusBadRequest, "the body is no JSON: %v", err)
	}
	if err := r.t.CheckBatch(len(elements)); err != nil {
		return nil, batch, err
	}
	drafts = make([]planningmodel.Draft, len(elements))
	for i, e := range elements {
		if drafts[i].Fields, drafts[i].User, err = r.fields(e); err != nil {
			return nil, batch, err
		}
	}
	return drafts, batch, nil
}

// fields splits one element of a write: the username and the attributes.
func (r reader) fields(body []byte) (fields []planningmodel.Field, user string, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, "", refuse(http.StatusBadRequest, "the body is no JSON object: %v", err)
	}
	json.Unmarshal(members["username"], &user) //nolint:errcheck // what is no string is no member either
	if err := r.api.Member(user); err != nil {
		return nil, "", err
	}
	delete(members, "username")
	attributes := make([]attribute, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		a := attribute{}
		var ok bool
		if a.attr, ok = planningmodel.AttrNamed(name); !ok || !slices.Contains(r.allowed, a.attr) {
			return nil, "", refuse(http.StatusBadRequest, "%s cannot be written here", name)
		}
		if err := strict(members[name], &a); err != nil || a.Value == nil {
			return nil, "", refuse(http.StatusBadRequest, "%s: want {value, version}: %v", name, err)
		}
		attributes = append(attributes, a)
	}
	for _, a := range attributes {
		f, err := r.field(a)
		if err != nil {
			return nil, "", err
		}
		fields = append(fields, f)
	}
	return fields, user, nil
}

// attribute is an attribute as a body carries it.
type attribute struct {
	attr    planningmodel.Attr
	Value   json.RawMessage `json:"value"`
	Version *int64          `json:"version"`
}

// field reads and checks an attribute. A new one has no version.
func (r reader) field(a attribute) (planningmodel.Field, error) {
	if r.creates && a.Version != nil {
		return planningmodel.Field{}, refuse(http.StatusBadRequest, "%s: a new attribute has no version", a.attr)
	}
	if r.creates && a.attr == planningmodel.Estimate && r.kind == planningmodel.KindCard {
		a.Value = unquoted(a.Value) // only here is a numeric string taken (4.1)
	}
	f, err := r.value(a)
	if err == nil {
		err = r.t.CheckField(r.kind, f)
	}
	if err == nil && !r.creates && a.Version == nil {
		err = refuse(http.StatusBadRequest, "%s: version is required", a.attr)
	}
	if err == nil && a.Version != nil {
		f.Version = *a.Version
	}
	return f, err
}

func strict(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// unquoted turns a JSON string into the JSON that it holds.
func unquoted(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return json.RawMessage(text)
	}
	return raw
}

// value reads the value of an attribute.
func (r reader) value(a attribute) (planningmodel.Field, error) {
	f, raw := planningmodel.Field{Attr: a.attr}, a.Value
	switch a.attr {
	case planningmodel.Title:
		if json.Unmarshal(raw, &f.Value) != nil || string(raw) == "null" {
			return f, r.t.Refused("title is not a string")
		}
	case planningmodel.Summary:
		var text struct {
			Markdown *string `json:"markdown"`
			HTML     string  `json:"html"`
		}
		if strict(raw, &text) != nil || text.Markdown == nil {
			return f, r.t.Refused("summary is not {markdown, html}")
		}
		f.Value, f.HTML = *text.Markdown, text.HTML
	case planningmodel.Estimate:
		var v *float64
		if json.Unmarshal(raw, &v) != nil || v == nil {
			return f, r.t.Refused("estimate is not a number")
		}
		f.Value = strconv.FormatFloat(*v, 'f', -1, 64)
	default:
		json.Unmarshal(raw, &f.Value) //nolint:errcheck // what is no string is no state either
	}
	return f, nil
}
