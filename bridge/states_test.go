package bridge_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
)

// assigners are the functions that may give a pair a state: they ask the table.
var assigners = []string{"mapping.Pair.Advance"}

// births are the functions whose answer a new pair may have for its state.
var births = []string{"born"}

// TestOnlyTheTableChangesAStateOfAPair reads the sources: no place but those above
// assigns the state of a pair, or begins one in a state of its own choice. A copy of
// another record's state is none.
func TestOnlyTheTableChangesAStateOfAPair(t *testing.T) {
	t.Parallel()
	src := &source{fset: token.NewFileSet(), listed: exportedPackages(t), packages: map[string]*types.Package{}}
	src.others = importer.ForCompiler(src.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(src.listed[path].Export) })
	for path := range src.listed {
		if name, ours := strings.CutPrefix(path, module); !ours || isTestKit(name) {
			continue
		}
		if _, err := src.Import(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, fault := range src.faults {
		t.Error(fault)
	}
	for _, name := range assigners {
		if !slices.Contains(src.assigned, name) {
			t.Errorf("%s was not seen to assign a state: what is looked for here is not there any more", name)
		}
	}
}

// exportedPackage is a package with its sources and what the compiler exported of it.
type exportedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// exportedPackages lists all that the module is made of. One command asks for all exports, with
// the build's flags of this test.
func exportedPackages(t *testing.T) map[string]exportedPackage {
	t.Helper()
	args := append([]string{"-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles"}, bridgetest.RaceFlags...)
	packages := map[string]exportedPackage{}
	for _, p := range goList[exportedPackage](t, args...) {
		packages[p.ImportPath] = p
	}
	return packages
}

// source type-checks the module's production code.
type source struct {
	fset     *token.FileSet
	listed   map[string]exportedPackage
	others   types.Importer // of packages that are not the module's
	packages map[string]*types.Package
	faults   []string
	assigned []string // the functions that assign a state
}

func (s *source) Import(path string) (*types.Package, error) {
	dir, ours := strings.CutPrefix(path, module)
	if !ours {
		return s.others.Import(path)
	}
	if p := s.packages[path]; p != nil {
		return p, nil
	}
	listed := s.listed[path]
	var files []*ast.File
	for _, name := range listed.GoFiles {
		f, err := parser.ParseFile(s.fset, filepath.Join(listed.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	check := types.Config{Importer: s}
	p, err := check.Check(path, s.fset, files, info)
	if err != nil {
		return nil, err
	}
	s.packages[path] = p
	for _, f := range files {
		for _, d := range f.Decls {
			s.read(dir, d, info)
		}
	}
	return p, nil
}

// read looks through one declaration.
func (s *source) read(dir string, d ast.Decl, info *types.Info) {
	name := dir
	if fn, ok := d.(*ast.FuncDecl); ok {
		name = filepath.Base(dir) + "." + fn.Name.Name
		if fn.Recv != nil {
			name = filepath.Base(dir) + "." + strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*") + "." + fn.Name.Name
		}
	}
	isState := func(e ast.Expr) bool {
		t := info.TypeOf(e)
		return t != nil && t.String() == module+"mapping.LinkState"
	}
	fault := func(n ast.Node, what string) {
		s.faults = append(s.faults, fmt.Sprintf("%s: %s %s", s.fset.Position(n.Pos()), name, what))
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				field, ok := left.(*ast.SelectorExpr)
				if !ok || field.Sel.Name != "State" || !isState(field) && (len(n.Rhs) <= i || !isState(n.Rhs[i])) {
					continue
				}
				if s.assigned = append(s.assigned, name); !slices.Contains(assigners, name) {
					fault(n, "assigns a pair's state")
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "State" && isState(n.Value) && !beginsAsTold(n.Value) {
				fault(n, "begins a pair in a state of its own choice")
			}
		case *ast.UnaryExpr:
			if field, ok := n.X.(*ast.SelectorExpr); ok && n.Op == token.AND && field.Sel.Name == "State" && isState(field) {
				fault(n, "takes the address of a pair's state")
			}
		}
		return true
	})
}

// beginsAsTold reports whether a new record has the state of another one, or one that the
// table begins with.
func beginsAsTold(value ast.Expr) bool {
	switch v := value.(type) {
	case *ast.SelectorExpr:
		return v.Sel.Name == "State"
	case *ast.CallExpr:
		name, ok := v.Fun.(*ast.Ident)
		return ok && slices.Contains(births, name.Name)
	}
	return false
}
