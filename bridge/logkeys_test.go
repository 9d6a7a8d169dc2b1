package bridge_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"planbridge/bridge/factlog"
	"planbridge/mapping/pagetest"
)

// logMethods are what lines are logged by, with the place of the first key.
var logMethods = map[string]int{"Debug": 1, "Info": 1, "Warn": 1, "Error": 1, "With": 0, "Log": 3, "logs": 2}

// keyForm is the form of a key.
var keyForm = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// TestLogKeys: each key of a log line has one form and is in the page on operations. No line has a
// duration as a number or a text.
func TestLogKeys(t *testing.T) {
	t.Parallel()
	documented := keysOfTable(t)
	found := map[string]string{}
	for _, key := range []string{factlog.Fact, factlog.Over, factlog.Times, factlog.Lasts} {
		found[key] = "factlog"
	}
	for _, dir := range []string{".", "../store", "../cmd/planbridge", "../config"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() != ".." && strings.HasSuffix(d.Name(), "test")):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			return keysIn(path, func(key, at string, value ast.Expr) {
				found[key] = at
				if !keyForm.MatchString(key) {
					t.Errorf("%s: the key %q, expected small letters and _", at, key)
				}
				if says := durationForm(value); says != "" {
					t.Errorf("%s: %s is %s, expected a time.Duration", at, key, says)
				}
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) < 40 {
		t.Errorf("%d keys were found, more are there", len(found))
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if !documented[key] {
			t.Errorf("%s: docs/operations.md does not list the key %s", found[key], key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(documented)) {
		if found[key] == "" {
			t.Errorf("docs/operations.md lists the key %s, which no line has", key)
		}
	}
}

// keysOfTable are the keys that the table of the page on operations lists.
func keysOfTable(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	_, rest, begins := strings.Cut(pagetest.Read(t, "..", "docs/operations.md").Source, "| the line is about | keys |")
	rows, _, ends := strings.Cut(rest, "\n\n")
	if !begins || !ends {
		t.Fatal("docs/operations.md has no table of log keys")
	}
	for _, span := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(rows, -1) {
		out[span[1]] = true
	}
	return out
}

// keysIn visits the keys of the lines that a file logs.
func keysIn(path string, visit func(key, at string, value ast.Expr)) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	visitKey := func(key, value ast.Expr) {
		lit, is := key.(*ast.BasicLit)
		if !is {
			return // a constant of factlog
		}
		if key, err := strconv.Unquote(lit.Value); err == nil {
			visit(key, set.Position(lit.Pos()).String(), value)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		method, is := call.Fun.(*ast.SelectorExpr)
		first, logs := 0, false
		if is {
			first, logs = logMethods[method.Sel.Name]
		}
		if isAttribute(method) {
			visitKey(call.Args[0], call.Args[1])
			return true
		}
		if !logs || method.Sel.Name != "logs" && !isLogger(method.X) || call.Ellipsis != token.NoPos && len(call.Args) <= first+1 {
			return true
		}
		for i := first; i+1 < len(call.Args); i += 2 {
			visitKey(call.Args[i], call.Args[i+1])
		}
		return true
	})
	return nil
}

// isAttribute reports whether a function makes a key and its value, as slog.String does.
func isAttribute(f *ast.SelectorExpr) bool {
	if f == nil {
		return false
	}
	from, is := f.X.(*ast.Ident)
	return is && from.Name == "slog" && slices.Contains([]string{"String", "Int", "Int64", "Bool", "Time", "Duration", "Any"}, f.Sel.Name)
}

// isLogger reports whether an expression names a logger.
func isLogger(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return strings.Contains(strings.ToLower(x.Name), "log")
	case *ast.SelectorExpr:
		return strings.Contains(strings.ToLower(x.Sel.Name), "log")
	case *ast.CallExpr:
		return isLogger(x.Fun)
	}
	return false
}

// durationForm says how a value turns a duration into something else; "": it does not.
func durationForm(x ast.Expr) string {
	call, is := x.(*ast.CallExpr)
	if !is {
		return ""
	}
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	switch method.Sel.Name {
	case "Seconds", "Milliseconds", "Minutes", "Hours":
		return "a number of " + method.Sel.Name
	case "String":
		if inner, is := method.X.(*ast.CallExpr); is {
			if f, is := inner.Fun.(*ast.SelectorExpr); is && (f.Sel.Name == "Since" || f.Sel.Name == "Sub" || f.Sel.Name == "Until") {
				return "a text"
			}
		}
	}
	return ""
}
