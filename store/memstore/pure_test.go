package memstore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pure lists the packages that may not read a clock, draw a random number or start a goroutine,
// with their further forbidden imports.
var pure = map[string][]string{
	".":                  nil,
	"../internal/queue":  {"context", "sync"},
	"../internal/budget": {"context", "sync"},
	"../internal/rules":  {"context", "sync"},
}

// impure imports bring a clock, chance or the outside world.
var impure = []string{
	"math/rand", "math/rand/v2", "crypto/rand", "os", "os/exec", "net", "net/http", "log", "log/slog",
	"sync/atomic", "runtime", "testing/synctest", "golang.org/x/sync/errgroup",
}

// forbidden are functions of packages that may be imported.
var forbidden = map[string][]string{
	"time":    {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"},
	"mapping": {"NewID", "NewNonce"},
	"context": {"AfterFunc", "WithTimeout", "WithDeadline", "Background"},
}

// TestPure: the same operations at the same times give the same content, as the package has no
// other input.
func TestPure(t *testing.T) {
	for dir, more := range pure {
		files := token.NewFileSet()
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s has files %v, %v", dir, names, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(files, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, why := range impurities(f, more) {
				t.Errorf("%s: %s", files.Position(why.at), why.what)
			}
		}
	}
}

type impurity struct {
	at   token.Pos
	what string
}

func impurities(f *ast.File, more []string) (found []impurity) {
	named := map[string]string{} // by the name in the file
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil || slices.Contains(impure, imported) || slices.Contains(more, imported) {
			found = append(found, impurity{spec.Pos(), "imports " + spec.Path.Value})
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		named[name] = path.Base(imported)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, impurity{n.Pos(), "starts a goroutine"})
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(forbidden[named[x.Name]], n.Sel.Name) {
				found = append(found, impurity{n.Pos(), "uses " + x.Name + "." + n.Sel.Name})
			}
			if n.Sel.Name == "Go" {
				found = append(found, impurity{n.Pos(), "starts a goroutine"})
			}
		}
		return true
	})
	return found
}

// TestImpurities: the check finds each impurity.
func TestImpurities(t *testing.T) {
	source := `package p
import ("math/rand"; "sync"; now "time"; "planbridge/mapping")
var wg sync.WaitGroup
func f() { go f(); wg.Go(f); now.Now(); rand.Int(); _ = now.Second; mapping.NewID() }`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range impurities(f, []string{"sync"}) {
		got = append(got, i.what)
	}
	want := []string{`imports "math/rand"`, `imports "sync"`, "starts a goroutine", "starts a goroutine", "uses now.Now", "uses mapping.NewID"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
