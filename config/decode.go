package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// decoder turns YAML into structs, strictly: unknown keys, duplicate keys and values of a wrong
// type are faults. It collects all faults. It reads the syntax tree, as yaml.Unmarshal stops at
// the first fault and loses positions.
type decoder struct {
	env     func(string) (string, bool)
	wanted  func(key string) bool // the secrets to resolve
	src     *source
	file    string // the present file
	lines   int    // its number of lines
	anchors map[string]ast.Node
	keys    map[string][]string // of each mapping, by its path, in the file's order
	// fresh has the initial value of the elements of lists and mappings, by type.
	fresh  map[reflect.Type]reflect.Value
	faults Faults
}

func newDecoder(env func(string) (string, bool), wanted func(key string) bool) *decoder {
	return &decoder{
		env: env, wanted: wanted, keys: map[string][]string{},
		src: &source{at: map[string]position{}, failed: map[string]bool{}},
	}
}

func (d *decoder) fault(path string, n ast.Node, found, want string) {
	d.faultAt(path, d.position(n), found, want)
}

func (d *decoder) faultAt(path string, p position, found, want string) {
	d.src.failed[path] = true
	d.faults = append(d.faults, Fault{p.file, p.line, p.column, inFile(path), found, want})
}

// position returns the position of a node of the present file. The parser may put one after the
// file's end: then it is on the last line.
func (d *decoder) position(n ast.Node) position {
	p := nodePosition(n)
	p.file, p.line = d.file, min(p.line, d.lines)
	return p
}

// nodePosition returns the position of a node. A block mapping's own token is its first colon, so that
// place uses its first key.
func nodePosition(n ast.Node) position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	p := n.GetToken().Position
	return position{line: max(p.Line, 1), column: max(p.Column, 1)}
}

// resolve follows anchors and aliases to their node.
func (d *decoder) resolve(n ast.Node) ast.Node {
	for range 10 { // an anchor may hold an alias; a longer chain is a circle
		switch t := n.(type) {
		case *ast.AnchorNode:
			n = t.Value
		case *ast.AliasNode:
			target, ok := d.anchors[t.Value.GetToken().Value]
			if !ok {
				return n
			}
			n = target
		default:
			return n
		}
	}
	return n
}

// Visit collects the anchors: the decoder is an [ast.Visitor] only for that.
func (d *decoder) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok {
		d.anchors[a.Name.GetToken().Value] = a.Value
	}
	return d
}

// value decodes n into v. A null list or mapping is empty, so that a whole section can be
// commented out.
func (d *decoder) value(path string, n ast.Node, v reflect.Value, option string) {
	d.src.at[path] = d.position(n)
	n = d.resolve(n)
	switch v.Interface().(type) {
	case Secret:
		d.secret(path, n, v)
		return
	case time.Duration:
		d.duration(path, n, v)
		return
	}
	_, null := n.(*ast.NullNode)
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(path, n, v.Elem(), "")
	case reflect.Struct:
		if !null {
			d.structure(path, n, v)
		}
	case reflect.Map:
		d.mapping(path, n, v, option)
	case reflect.Slice:
		d.list(path, n, v, option)
	default:
		d.scalar(path, n, v)
	}
}

// entry decodes the value of a mapping's entry. Faults of a section are at its key, not at its
// first entry.
func (d *decoder) entry(path string, e *ast.MappingValueNode, v reflect.Value, option string) {
	d.value(path, e.Value, v, option)
	if m, ok := e.Value.(*ast.MappingNode); ok && !m.IsFlowStyle {
		d.src.at[path] = d.position(e.Key)
	}
}

// structure decodes the fields in the order of the struct, not of the file.
func (d *decoder) structure(path string, n ast.Node, v reflect.Value) {
	entries, ok := d.entries(path, n)
	if !ok {
		return
	}
	var known []string
	for _, field := range reflect.VisibleFields(v.Type()) {
		name, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == "" {
			continue
		}
		known = append(known, name)
		if value, ok := entries[name]; ok {
			d.entry(joinPath(path, name), value, v.FieldByIndex(field.Index), option)
		}
	}
	for _, name := range d.keys[path] {
		if !slices.Contains(known, name) {
			d.fault(joinPath(path, name), entries[name].Key, "unknown key",
				"one of "+strings.Join(known, ", ")+suggest(name, known))
		}
	}
}

// mapping decodes a mapping with free keys. It replaces the content of v, or adds to it with the
// option merge. With the option file the mapping may be in a file of its own.
func (d *decoder) mapping(path string, n ast.Node, v reflect.Value, option string) {
	if name, ok := text(n); ok && option == "file" {
		file, named := strings.CutPrefix(name, "file:")
		if !named || file == "" {
			d.fault(path, n, show(n), "a mapping, or file:PATH")
			return
		}
		d.other(path, file, func(body ast.Node) { d.mapping(path, d.resolve(body), v, "") })
		return
	}
	made := reflect.MakeMap(v.Type())
	if option == "merge" {
		for it := v.MapRange(); it.Next(); {
			made.SetMapIndex(it.Key(), it.Value())
		}
	}
	v.Set(made)
	if _, null := n.(*ast.NullNode); null {
		return
	}
	entries, _ := d.entries(path, n)
	for _, key := range d.keys[path] {
		elem := d.newElem(v.Type().Elem())
		d.entry(joinPath(path, key), entries[key], elem, "")
		made.SetMapIndex(reflect.ValueOf(key), elem)
	}
}

// list decodes a list, or with the option one also a single element.
func (d *decoder) list(path string, n ast.Node, v reflect.Value, option string) {
	elem := v.Type().Elem()
	made := reflect.MakeSlice(v.Type(), 0, 0)
	switch t := n.(type) {
	case *ast.NullNode:
	case *ast.SequenceNode:
		for i, item := range t.Values {
			e := d.newElem(elem)
			d.value(fmt.Sprintf("%s[%d]", path, i), item, e, "")
			made = reflect.Append(made, e)
		}
	default:
		if option != "one" {
			d.fault(path, n, kind(n), "a list")
			return
		}
		e := d.newElem(elem)
		d.value(path, n, e, "")
		made = reflect.Append(made, e)
	}
	v.Set(made)
}

func (d *decoder) newElem(t reflect.Type) reflect.Value {
	e := reflect.New(t).Elem()
	if fresh, ok := d.fresh[t]; ok {
		e.Set(fresh)
	}
	return e
}

func (d *decoder) scalar(path string, n ast.Node, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s, ok := text(n); ok && path == "store.url" && strings.HasPrefix(s, "env:") {
			d.storeURL(path, n, v, s)
		} else if ok {
			v.SetString(s)
		} else {
			d.fault(path, n, show(n), "text"+hintQuote(n))
		}
	case reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			v.SetBool(b.Value)
		} else {
			d.fault(path, n, show(n), "true or false")
		}
	case reflect.Int, reflect.Int64:
		if i, ok := integer(n); ok {
			v.SetInt(i)
		} else {
			d.fault(path, n, show(n), "a whole number")
		}
	default:
		panic("config: no decoder for " + v.Type().String())
	}
}

func (d *decoder) duration(path string, n ast.Node, v reflect.Value) {
	s, ok := text(n)
	if i, isInt := integer(n); isInt && i == 0 {
		s, ok = "0", true
	}
	if ok {
		if t, err := time.ParseDuration(s); err == nil {
			v.SetInt(int64(t))
			return
		}
	}
	d.fault(path, n, show(n), "a duration with its unit, such as 30s, 5m or 1h30m")
}

func (d *decoder) secret(path string, n ast.Node, v reflect.Value) {
	ref, ok := text(n)
	if _, null := n.(*ast.NullNode); null {
		d.fault(path, n, "nothing", "env:NAME or file:PATH")
		return
	}
	if !ok {
		ref = "" // never show it
	}
	if !d.wanted(path) {
		d.src.failed[path] = true // so that Validate reports no missing value
		return
	}
	s, found, want := resolveSecret(ref, d.env)
	if want != "" {
		d.fault(path, n, found, want)
		return
	}
	v.Set(reflect.ValueOf(s))
}

// storeURL reads a URL from the environment, as one with a password is a secret. (file: is the
// scheme of an embedded store.)
func (d *decoder) storeURL(path string, n ast.Node, v reflect.Value, ref string) {
	if !d.wanted(path) {
		return
	}
	s, found, want := resolveSecret(ref, d.env)
	if want != "" {
		d.fault(path, n, found, want)
		return
	}
	v.SetString(s.Reveal())
}

// entries returns the entries of a mapping by key and stores their order in d.keys. It does not
// show a wrong node's content, which may be a misplaced secret.
func (d *decoder) entries(path string, n ast.Node) (map[string]*ast.MappingValueNode, bool) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.fault(path, n, kind(n), "a mapping")
		return nil, false
	}
	entries := make(map[string]*ast.MappingValueNode, len(m.Values))
	for _, e := range m.Values {
		if e.Key.IsMergeKey() {
			d.fault(joinPath(path, "<<"), e.Key, "a merge key", "an alias for a whole value, or the key defaults")
			continue
		}
		if _, scalar := e.Key.(ast.ScalarNode); !scalar {
			d.fault(path, e.Key, "a key that is no text", "text")
			continue
		}
		name := e.Key.GetToken().Value
		if first, doubled := entries[name]; doubled {
			d.fault(joinPath(path, name), e.Key, "a second time", fmt.Sprintf("once: it stands on line %d already", d.position(first.Key).line))
			continue
		}
		entries[name] = e
		d.keys[path] = append(d.keys[path], name)
	}
	return entries, true
}
