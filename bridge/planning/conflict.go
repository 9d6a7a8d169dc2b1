package planning

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"planbridge/mapping"
)

// finding is the result of a search in an update's answer.
type finding struct {
	values  map[mapping.Attribute]mapping.Versioned
	version int64 // of the whole item; 0 where missing
}

// ourNames are members with the values that we sent, not the service's.
var ourNames = map[string]bool{
	"sent": true, "submitted": true, "supplied": true, "given": true, "yours": true, "request": true,
	"requested": true, "rejected": true, "previous": true, "old": true,
}

// foreignNames are members with other items, which have titles of their own.
var foreignNames = map[string]bool{
	"tasks": true, "children": true, "project": true, "iteration": true, "owner": true, "bucket": true,
}

// node is one node of the search.
type node struct {
	value any
	attr  mapping.Attribute // the attribute of the values here, "" where unknown
}

// find searches an answer for attributes of the item, breadth first, so that the topmost wins. It
// finds objects with value and version at any depth and under any wrapper. An attribute's name is
// their key, or one of their members (docs/planning-api.md 7: "exact body: not shown").
func (u *Write) find(tree any) finding {
	f := finding{values: map[mapping.Attribute]mapping.Versioned{}}
	queue := []node{{value: tree}}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		switch v := at.value.(type) {
		case []any:
			for _, e := range v {
				queue = append(queue, node{e, at.attr})
			}
		case map[string]any:
			of := u.named(v, at.attr)
			if u.record(&f, v, of) || i > 0 && u.other(v) {
				continue
			}
			for _, key := range slices.Sorted(maps.Keys(v)) {
				name := strings.ToLower(key)
				if ourNames[name] || foreignNames[name] {
					continue
				}
				attr := of
				if u.writable(mapping.Attribute(name)) {
					attr = mapping.Attribute(name)
				}
				queue = append(queue, node{v[key], attr})
			}
		}
	}
	return f
}

// named returns the attribute that an object names itself ({"attribute": "title", "current": …}),
// else the one above it.
func (u *Write) named(object map[string]any, under mapping.Attribute) mapping.Attribute {
	for _, key := range []string{"attribute", "field", "name", "key", "path"} {
		if name, ok := object[key].(string); ok && u.writable(mapping.Attribute(name)) {
			return mapping.Attribute(name)
		}
	}
	return under
}

// record records an object that is a versioned value and reports whether it is one. Any other
// object may have the version of the whole item.
func (u *Write) record(f *finding, object map[string]any, attr mapping.Attribute) bool {
	version, known := treeInteger(object["version"])
	value, has := object["value"]
	if !has || attr == "" && u.isItem(object) {
		if known && attr == "" && f.version == 0 {
			f.version = version
		}
		return false
	}
	if _, again := f.values[attr]; again || attr == "" || !known {
		return true
	}
	if text, ok := treeValue(attr, value); ok {
		f.values[attr] = mapping.Versioned{Value: text, Version: version}
	}
	return true
}

// isItem reports whether an object is an item. An item may have an attribute named value (facts
// of real data).
func (u *Write) isItem(object map[string]any) bool {
	if _, ok := object["_id"]; ok {
		return true
	}
	for attr := range u.Set {
		if _, ok := object[string(attr)]; ok {
			return true
		}
	}
	return false
}

// other reports whether an object is another item than the written one. The root of the answer
// never is, whatever its id.
func (u *Write) other(object map[string]any) bool {
	id := object["_id"]
	if wrapped, ok := id.(map[string]any); ok {
		id = wrapped["$oid"]
	}
	s, ok := id.(string)
	return ok && s != string(u.ID)
}

// treeInteger is parseInteger for a value of a tree.
func treeInteger(v any) (int64, bool) {
	switch v := v.(type) {
	case json.Number:
		return parseInteger([]byte(v))
	case string:
		return parseInteger([]byte(v))
	}
	return 0, false
}

// treeValue reads an attribute's value in the form of package mapping. It reports false for an
// impossible value.
func treeValue(attr mapping.Attribute, v any) (string, bool) {
	form := attr.Spec().Form
	switch v := v.(type) {
	case nil:
		return "", form == mapping.FormMarkdown || form == mapping.FormNumber
	case string:
		if n, ok := ParseNumber(v); ok && form == mapping.FormNumber {
			return n, true
		}
		return v, true
	case json.Number:
		n, ok := ParseNumber(v.String())
		return n, ok && form != mapping.FormWord
	case map[string]any:
		text, ok := v["markdown"].(string)
		return text, ok && form == mapping.FormMarkdown
	}
	return "", false
}

// same reports whether an answered value equals the sent one, up to the service's spelling.
func same(attr mapping.Attribute, sent, answered string) bool {
	switch attr.Spec().Form {
	case mapping.FormMarkdown:
		return SameRendering(sent, answered)
	case mapping.FormNumber:
		if n, ok := ParseNumber(sent); ok {
			return n == answered
		}
	}
	return strings.TrimSpace(sent) == strings.TrimSpace(answered)
}

// Answer has the parts of an answer to an update.
type Answer struct {
	Status  int
	Version int64 // of the whole item; 0 where missing
	Values  map[mapping.Attribute]mapping.Versioned
	Said    func() string // its message about an error
	IsError bool          // it has an error of its own, whatever its status
	Foreign bool          // it is not JSON
	Empty   bool          // it has no body
}

// read splits an answer into its parts; errorMessage finds its message about an error.
func (u *Write) read(status int, body []byte, errorMessage func([]byte) string) Answer {
	tree, parsed := parseTree(body)
	f := u.find(tree)
	return Answer{
		Status: status, Version: f.version, Values: f.values, Said: sync.OnceValue(func() string { return errorMessage(body) }),
		IsError: saysError(tree), Foreign: !parsed, Empty: strings.TrimSpace(string(body)) == "",
	}
}

// Judge decides the meaning of an answer to an update. A conflict can come with any status and in
// any shape (docs/planning-api.md 7), so the values decide first:
//
//	status   values found                               meaning
//	any      none; 409 or 412, or words of a version    conflict without values
//	2xx      none                                       success; with an error in it: refused
//	2xx      value as sent, whatever its version        success
//	2xx      other value, version as sent or one higher success with those values: a rewriting by
//	                                                    the service or an edit; the caller decides
//	2xx      other value, any other version             conflict
//	other    all as sent, with later versions           outcome unknown (409, 412: conflict)
//	other    one with another version than was sent     conflict
//	other    all with the versions sent                 not about versions; 409, 412: conflict
//
// A forced write (version -1) cannot conflict. The result is valid for a nil error and a 2xx
// status. A nil error with another status leaves the answer to [Request.Fault].
func (u *Write) Judge(a Answer) (Updated, error) {
	ok := a.Status/100 == 2
	conflict := &mapping.VersionConflict{Current: a.Values}
	silent := true // no sent attribute was found
	moved, effected := false, true
	for attr, sent := range u.Set {
		got, found := a.Values[attr]
		silent = silent && !found
		equal := found && same(attr, sent.Value, got.Value)
		effected = effected && equal && got.Version > sent.Version
		if !found || sent.Version == mapping.ForceVersion || got.Version == sent.Version {
			continue
		}
		moved = moved || !ok || !equal && got.Version != sent.Version+1
	}
	switch {
	case a.Status == http.StatusConflict || a.Status == http.StatusPreconditionFailed,
		silent && (!ok || a.Foreign || a.IsError) && conflictWords.MatchString(a.Said()):
		conflict.Message = a.Said()
		return Updated{}, conflict
	case !ok && effected:
		return Updated{}, withMessage(mapping.ErrUncertain, a.Status, a.Said())
	case moved:
		return Updated{}, conflict
	case !ok:
		return Updated{}, nil
	case a.Foreign && !a.Empty:
		return Updated{}, misread(true, errors.New("not JSON"))
	case silent && a.IsError:
		return Updated{}, &mapping.Rejection{Status: a.Status, Field: namedField(a.Said(), u.fields()), Message: a.Said()}
	}
	return Updated{Version: a.Version, Values: a.Values}, nil
}

// saysError reports whether an answer has an error of its own.
func saysError(tree any) bool {
	object, ok := tree.(map[string]any)
	if !ok {
		return false
	}
	for _, key := range []string{"error", "errors"} {
		switch v := object[key].(type) {
		case nil:
		case bool:
			return v
		case string:
			return v != ""
		case []any:
			return len(v) > 0
		default:
			return true
		}
	}
	return false
}
