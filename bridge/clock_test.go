package bridge_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unsimulated are the packages that the simulator does not run: programs, and the stores
// that wait for a file or a server.
var unsimulated = []string{"cmd/...", "store/boltstore", "store/redisstore"}

// ambient counts, by package, what still reaches past the injected clock, random source
// and runner. A package that is not here reaches past none of them. A number may only fall,
// and falls here as well.
var ambient = map[string]map[string]int{
	"bridge":              {"context.WithTimeout": 3, "time.After": 1, "time.NewTicker": 1},
	"bridge/accounts":     {"context.WithTimeout": 3, "time.After": 1, "time.NewTimer": 1, "time.Now": 1, "time.Since": 1},
	"bridge/repositories": {"time.Now": 14, "time.Since": 1},
	"bridge/engine":       {"context.AfterFunc": 1, "context.WithDeadline": 3, "context.WithTimeout": 1, "time.AfterFunc": 1, "time.NewTimer": 4},
	"bridge/github":       {"context.WithTimeout": 1, "time.NewTimer": 1, "time.Now": 7, "time.Since": 2, "time.Until": 3},
	"bridge/guard":        {"go": 2, "time.After": 1, "time.Now": 1},
	"bridge/inventory":    {"time.NewTimer": 1},
	"bridge/explain":      {"context.WithTimeout": 2},
	"bridge/planning":     {"context.WithTimeout": 1, "math/rand/v2.Int64N": 1, "time.Now": 2, "time.Since": 1},
	"bridge/adapters":     {"time.Now": 9},
	"bridge/catchup":      {"context.WithTimeout": 1, "time.After": 1},
	"bridge/metrics":      {"context.WithTimeout": 1, "time.NewTimer": 1},
	"bridge/milestones":   {"time.After": 1},
	"bridge/clock":        {"context.WithTimeout": 1, "math/rand/v2.Int64N": 1, "time.Now": 1},
	"bridge/lease":        {"context.WithTimeout": 1, "time.NewTicker": 1, "time.NewTimer": 1},
	"bridge/effects":      {"crypto/rand.Read": 1, "context.WithDeadline": 1, "context.WithTimeout": 2},
	"bridge/preflight":    {"context.WithTimeout": 2, "time.Now": 1},
	"bridge/retention":    {"time.After": 1, "time.NewTicker": 1},
	"bridge/session":      {"context.AfterFunc": 2, "context.WithTimeout": 2, "time.AfterFunc": 1, "time.NewTicker": 1, "time.Now": 2, "time.Until": 2},
	"bridge/status":       {"context.WithTimeout": 2, "time.Now": 3, "time.Since": 1, "time.Until": 1},
	"bridge/webhook":      {"context.AfterFunc": 1, "context.WithTimeout": 1, "time.AfterFunc": 1, "time.NewTimer": 1, "time.Now": 7, "time.Since": 2},
	"mapping":             {"crypto/rand.Read": 1},
}

// ambientNames are the functions of the standard library that ask the runtime for the time, for
// chance or for a goroutine. An empty list stands for all functions.
var ambientNames = map[string][]string{
	"time":         {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"context":      {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause", "AfterFunc"},
	"math/rand":    {},
	"math/rand/v2": {},
	"crypto/rand":  {},
}

// seeded are the names of math/rand that draw nothing by themselves.
var seeded = []string{"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf"}

// TestNothingReachesPastTheClock holds the packages that the simulator runs to what they
// are given. A goroutine is started by guard.Spawn alone.
func TestNothingReachesPastTheClock(t *testing.T) {
	found := map[string]map[string]int{}
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if covered(unsimulated, name) || isTestKit(name) {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(name), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		found[name] = map[string]int{}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			if err := countAmbient(found[name], file, nil); err != nil {
				t.Fatal(err)
			}
		}
		if want := ambient[name]; !maps.Equal(found[name], want) {
			t.Errorf("%s: bridge/clock_test.go has %s, and there is %s", name, counts(want), counts(found[name]))
		}
	}
	for name := range ambient {
		if found[name] == nil {
			t.Errorf("there is no package %s", name)
		}
	}
}

// countAmbient adds to n what a file names of ambientNames, and its go statements. The
// file is read where source is nil.
func countAmbient(n map[string]int, file string, source any) error {
	tree, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse %s: %w", file, err)
	}
	imported := map[string]string{} // by name in the file
	for _, spec := range tree.Imports {
		of, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return fmt.Errorf("parse %s: %w", file, err)
		}
		name := path.Base(strings.TrimSuffix(of, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = of
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			n["go"]++
		case *ast.SelectorExpr:
			if of, ok := node.X.(*ast.Ident); ok && isAmbient(imported[of.Name], node.Sel.Name) {
				n[imported[of.Name]+"."+node.Sel.Name]++
			} else if node.Sel.Name == "Go" { // of a sync.WaitGroup
				n["go"]++
			}
		}
		return true
	})
	return nil
}

func isAmbient(of, name string) bool {
	names, listed := ambientNames[of]
	if !listed || strings.HasPrefix(of, "math/rand") && slices.Contains(seeded, name) {
		return false
	}
	return len(names) == 0 || slices.Contains(names, name)
}

// counts is a line of the table.
func counts(n map[string]int) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%q: %d", what, n[what]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// TestClockTells shows what is counted.
func TestClockTells(t *testing.T) {
	got := map[string]int{}
	err := countAmbient(got, "a.go", `package a
import (
	"context"
	chance "math/rand/v2"
	"sync"
	"time"
)
func f(ctx context.Context, wg *sync.WaitGroup, now func() time.Time) {
	go wg.Wait()
	wg.Go(func() { time.Sleep(time.Second) })
	clock := time.Now
	_, _ = now(), clock()
	context.WithTimeout(ctx, time.Minute)
	_ = chance.New(chance.NewPCG(1, 2)).IntN(3) + chance.IntN(4)
}`)
	want := map[string]int{"go": 2, "time.Sleep": 1, "time.Now": 1, "context.WithTimeout": 1, "math/rand/v2.IntN": 1}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("counted %v, %v; want %v", counts(got), err, counts(want))
	}
}
