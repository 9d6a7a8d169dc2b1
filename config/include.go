package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// A configuration may have several files. The decoder reads the files that the first one names,
// and notes the file of each key.

// open begins a file, to which later positions belong. ok is false unless the file is one YAML
// document.
func (d *decoder) open(name string, data []byte) (body ast.Node, ok bool) {
	d.file, d.lines, d.anchors = name, 1+bytes.Count(data, []byte("\n")), map[string]ast.Node{}
	d.src.files = append(d.src.files, name)
	body, fault := parse(data)
	if fault != nil {
		fault.File, fault.Line = name, min(fault.Line, d.lines)
		d.faults = append(d.faults, *fault)
		return nil, false
	}
	if body != nil {
		ast.Walk(d, body)
	}
	return body, true
}

// other decodes another file, which a key names relative to its own file.
func (d *decoder) other(path, name string, decode func(body ast.Node)) {
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(d.file), file)
	}
	if slices.Contains(d.src.files, file) {
		d.faultAt(path, d.src.at[path], quote(name), "a file that is not read already")
		return
	}
	data, err := read(file)
	if err != nil {
		// The fault already has the name.
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		d.faultAt(path, d.src.at[path], quote(name), "a file that can be read: "+err.Error())
		return
	}
	was := *d
	if body, ok := d.open(file, data); ok && body != nil {
		decode(body)
	}
	d.file, d.lines, d.anchors = was.file, was.lines, was.anchors
}

// include adds the routes and the users of another file.
func (d *decoder) include(path, name string, c *Config) {
	if want := wantFile(name); want != "" || name == "" {
		return // Validate reports it
	}
	within := path + "/"
	d.other(path, name, func(body ast.Node) {
		var part struct {
			Users  map[string]string `yaml:"users,file"`
			Routes []Route           `yaml:"routes"`
		}
		d.src.at[within] = d.position(body)
		d.structure(within, d.resolve(body), reflect.ValueOf(&part).Elem())
		for i := range part.Routes {
			d.src.routes = append(d.src.routes, fmt.Sprintf("%sroutes[%d]", within, i))
		}
		c.Routes = append(c.Routes, part.Routes...)
		d.addUsers(within+"users", part.Users, c)
	})
}

// addUsers adds the users of an included file. Each user may be in one file only.
func (d *decoder) addUsers(path string, users map[string]string, c *Config) {
	if c.Users == nil {
		c.Users = map[string]string{}
	}
	for _, login := range d.keys[path] {
		from, to := joinPath(path, login), joinPath("users", login)
		if _, doubled := c.Users[login]; doubled {
			first := d.src.at[to]
			d.faultAt(from, d.src.at[from], "a second time", fmt.Sprintf("once: it stands in %s:%d already", first.file, first.line))
			continue
		}
		c.Users[login] = users[login]
		d.src.at[to], d.src.failed[to] = d.src.at[from], d.src.failed[from]
	}
}
