package bridge_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryGoroutineIsGuarded: a panic in a goroutine ends the process, whoever began
// it. In the packages of the bridge the guard alone begins goroutines.
func TestEveryGoroutineIsGuarded(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dir := filepath.Base(path)
		if d.IsDir() && (dir == "guard" || dir == "testdata" || strings.HasSuffix(dir, "test")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if begins(n) {
				t.Errorf("%s begins a goroutine without guard.Spawn", set.Position(n.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil || files < 50 {
		t.Fatalf("%d files were looked at: %v", files, err)
	}
}

// begins reports whether a node is a go statement, or a call of a Go method as a
// WaitGroup and an errgroup have one.
func begins(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		method, ok := n.Fun.(*ast.SelectorExpr)
		return ok && method.Sel.Name == "Go"
	}
	return false
}
