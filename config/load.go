package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFile bounds the configuration file in bytes. A thousand routes fit, and the parser's
// recursion stays far from the end of the stack.
const maxFile = 256 << 10

// Load reads, checks and completes the configuration in a file. env looks up the environment for
// env:NAME; nil means that of the process. The error is [Faults] when the file could be read.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	return Parse(data, path, env)
}

// LoadClient is [Load] for a command that only calls the running service. It resolves only
// server.admin_token, so that an operator's shell needs no other secret. The other secrets are
// zero.
func LoadClient(path string, env func(string) (string, bool)) (*Config, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	return parseWith(data, path, env, func(key string) bool { return key == "server.admin_token" })
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return data, nil
}

// Parse is [Load] for the content of a file; name is the file's name in faults.
func Parse(data []byte, name string, env func(string) (string, bool)) (*Config, error) {
	return parseWith(data, name, env, func(string) bool { return true })
}

// parseWith resolves only the secrets at the wanted keys.
func parseWith(data []byte, name string, env func(string) (string, bool), wanted func(key string) bool) (*Config, error) {
	if env == nil {
		env = os.LookupEnv
	}
	d := newDecoder(env, wanted)
	body, ok := d.open(name, data)
	if ok && body == nil {
		d.faults = append(d.faults, Fault{name, 1, 1, "", "an empty file", "a configuration; deploy/planbridge.example.yaml shows one"})
	}
	if !ok || body == nil {
		return nil, d.faults
	}
	d.src.at[""] = position{name, 1, 1}
	c := d.config(body)
	c.deriveValues(d.keys)
	if semantic, ok := errors.AsType[Faults](c.Validate()); ok {
		d.faults = append(d.faults, semantic...)
	}
	if err := d.faults.asError(d.src.files); err != nil {
		return nil, err
	}
	return c, nil
}

// parse returns the body of the only document in data; nil: there is none.
func parse(data []byte) (ast.Node, *Fault) {
	if len(data) > maxFile {
		return nil, &Fault{Line: 1, Column: 1, Found: "more than the file may have", Want: fmt.Sprintf("at most %d bytes", maxFile)}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxFault(err)
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch doc.Body.(type) {
		case nil, *ast.DirectiveNode:
			continue
		}
		if body != nil {
			p := nodePosition(doc.Body)
			return nil, &Fault{Line: p.line, Column: p.column, Found: "a second document", Want: "one document in the file"}
		}
		body = doc.Body
	}
	return body, nil
}

// syntaxFault converts an error of the parser.
func syntaxFault(err error) *Fault {
	f := &Fault{Line: 1, Column: 1, Found: "something that is not YAML", Want: "YAML"}
	// Use only the message: the error's text quotes the file, with secrets.
	if syntax, ok := errors.AsType[yaml.Error](err); ok {
		f.Found = "not YAML: " + syntax.GetMessage()
		if t := syntax.GetToken(); t != nil && t.Position != nil {
			f.Line, f.Column = max(t.Position.Line, 1), max(t.Position.Column, 1)
		}
	}
	return f
}

// config decodes body over the defaults. It decodes the defaults of routes first, wherever they
// are, and each route starts as a copy of them.
func (d *decoder) config(body ast.Node) *Config {
	c := defaults()
	c.src = d.src
	document := struct {
		Defaults Route `yaml:"defaults"`
		*Config
	}{routeDefaults(), &c}
	v := reflect.ValueOf(&document).Elem()
	d.fresh = map[reflect.Type]reflect.Value{reflect.TypeFor[Route](): v.Field(0)}
	d.structure("", d.resolve(body), v)
	d.src.defaults = document.Defaults
	for i := range c.Routes {
		d.src.routes = append(d.src.routes, fmt.Sprintf("routes[%d]", i))
	}
	for i, name := range c.Include {
		d.include(fmt.Sprintf("include[%d]", i), name, &c)
	}
	return &c
}

// deriveValues derives values that the file omits.
func (c *Config) deriveValues(keys map[string][]string) {
	c.GitHub.APIURL = strings.TrimRight(c.GitHub.APIURL, "/")
	if c.src.says("github.writes_per_minute") && !c.src.says("github.edits_per_minute") {
		c.GitHub.EditsPerMinute = c.GitHub.WritesPerMinute // one bound was meant for all writes
	}
	c.Planning.BaseURL = strings.TrimRight(c.Planning.BaseURL, "/")
	for i := range c.Routes {
		r := &c.Routes[i]
		path := c.src.route(i)
		p := c.src.find(path)
		r.File, r.Line = p.file, p.line
		if r.Name == "" {
			r.Name = r.Repository
		}
		if r.NewCardsIn == "" && len(r.Patterns()) == 1 && !isGlob(r.Patterns()[0]) {
			r.NewCardsIn = r.Patterns()[0]
		}
		if r.NewCardsIn == "" && !c.src.says(path+".create_issues") {
			r.CreateIssues = false
		}
		r.BucketLabels = keys[c.src.origin(path, "bucket_by_label")]
		r.Conflicts = maps.Clone(r.Conflicts)
		for _, attribute := range attributes {
			if _, ok := r.Conflicts[attribute]; !ok {
				r.Conflicts[attribute] = r.Conflicts["default"]
			}
		}
	}
}

// SaysQuarantine reports whether the file sets issues.quarantine for a route, in the route or in
// its defaults.
func (c *Config) SaysQuarantine(route string) bool {
	i := slices.IndexFunc(c.Routes, func(r Route) bool { return r.Name == route })
	return i >= 0 && c.src != nil && c.src.says(c.src.origin(c.src.route(i), "issues.quarantine"))
}
