package bridge_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// models are the packages whose results depend on what they are told alone: the
// state machines of the services.
var models = []string{"planningtest/planningmodel"}

// clocks are the functions of package time that tell the time or wait for it.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// outside are the packages that no model imports.
var outside = []string{"math/rand", "math/rand/v2", "crypto/rand", "os", "runtime", "net", "net/http", "context", "log", "log/slog"}

// faultsOf lists what a file has that a model must not have.
func faultsOf(file *ast.File, positions *token.FileSet) (faults []string) {
	fault := func(at ast.Node, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s: ", positions.Position(at.Pos()))+fmt.Sprintf(format, args...))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			name, _ := strconv.Unquote(n.Path.Value)
			if slices.Contains(outside, name) {
				fault(n, "imports %s", name)
			}
		case *ast.GoStmt:
			fault(n, "starts a goroutine")
		case *ast.SelectStmt:
			fault(n, "waits for what comes first")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
				fault(n, "uses time.%s", n.Sel.Name)
			}
		}
		return true
	})
	return faults
}

// TestModelsAreDeterministic holds that the models read no clock, wait for nothing,
// draw no random number and start no goroutine.
func TestModelsAreDeterministic(t *testing.T) {
	for _, folder := range models {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d files", folder, err, len(files))
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			positions := token.NewFileSet()
			file, err := parser.ParseFile(positions, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range faultsOf(file, positions) {
				t.Error(f)
			}
		}
	}
}

// TestModelFaultsTell shows that the rules refuse what they are there for.
func TestModelFaultsTell(t *testing.T) {
	for source, want := range map[string]int{
		`package p; import "time"; var t = time.Now()`:                                          1,
		`package p; import "time"; func f() { time.Sleep(1); <-time.After(1) }`:                 2,
		`package p; import "math/rand/v2"; var n = rand.Int()`:                                  1,
		`package p; import "net/http"; var s = http.StatusOK`:                                   1,
		`package p; func f() { go f(); select {} }`:                                             2,
		`package p; import "time"; func f(t time.Time) time.Time { return t.Add(time.Second) }`: 0,
	} {
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, "p.go", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := faultsOf(file, positions); len(got) != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}
