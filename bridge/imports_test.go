package bridge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"iter"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "planbridge/"

// arrows says what each package may import of this module, in its production code. Any other import
// is forbidden: a new package comes with its arrows. A name that ends in /... stands for all
// packages below it.
var arrows = map[string][]string{
	"mapping": {},
	"config":  {"store/redisstore/redisurl"},

	"store/redisstore/redisurl": {},

	"store":                 {"mapping"},
	"store/internal/rules":  {"mapping", "store"},
	"store/internal/queue":  {"mapping", "store", "store/internal/rules"},
	"store/internal/budget": {"store", "store/internal/rules"},
	"store/redisstore":      {"mapping", "store", "store/internal/rules", "store/redisstore/redisurl"},
	"store/boltstore":       {"mapping", "store", "store/internal/..."},
	"store/memstore":        {"mapping", "store", "store/internal/..."},
	"store/backup":          {"store", "store/internal/rules"},

	"bridge/factlog":           {"mapping", "store", "bridge/clock"},
	"bridge/guard":             {},
	"bridge/github":            {"mapping", "bridge/factlog"},
	"bridge/planning":          {"mapping", "bridge/factlog"},
	"bridge/webhook":           {"mapping", "store", "bridge/factlog", "bridge/guard"},
	"bridge/clock":             {},
	"bridge/lease":             {"store", "bridge/clock", "bridge/guard"},
	"bridge/burndown":          {"mapping", "store", "bridge/clock"},
	"bridge/poll":              {"mapping", "store", "bridge/burndown", "bridge/factlog", "bridge/guard", "bridge/clock", "bridge/lease", "bridge/poll/seen"},
	"bridge/poll/seen":         {"mapping", "store"},
	"bridge/catchup":           {"mapping", "store", "bridge/factlog", "bridge/guard", "bridge/clock", "bridge/lease"},
	"bridge/reconcile":         {"mapping", "store", "bridge/reconcile/journal"},
	"bridge/reconcile/journal": {"mapping"},
	"bridge/engine":            {"mapping", "store", "bridge/clock", "bridge/factlog", "bridge/guard", "bridge/reconcile"},
	"bridge/effects":           {"mapping", "store", "bridge/clock", "bridge/guard", "bridge/reconcile", "bridge/engine"},
	"bridge/status":            {"mapping", "store", "bridge/clock", "bridge/guard"},
	"bridge/monitor":           {"mapping", "bridge/clock", "bridge/reconcile", "bridge/status"},
	"bridge/retention":         {"mapping", "store", "bridge/clock", "bridge/guard", "bridge/jobs", "bridge/lease", "bridge/status"},
	"bridge/session":           {"mapping", "store", "bridge/factlog", "bridge/guard"},
	"bridge/epoch":             {"mapping", "store", "bridge/clock"},
	"bridge/identity":          {"mapping", "store"},
	"bridge/jobs":              {"mapping", "store", "bridge/clock", "bridge/guard", "bridge/status"},
	"bridge/inventory":         {"mapping", "store", "bridge/reconcile", "bridge/services"},
	"bridge/importer":          {"mapping", "store", "bridge/clock", "bridge/guard", "bridge/inventory", "bridge/jobs", "bridge/status"},
	"bridge/verifier":          {"mapping", "store", "bridge/clock", "bridge/guard", "bridge/inventory", "bridge/jobs", "bridge/lease", "bridge/status"},
	"bridge/metrics":           {"mapping", "store", "bridge/clock", "bridge/guard", "bridge/status"},
	"bridge/milestones":        {"mapping", "bridge/guard"},
	"bridge/requeue":           {"mapping", "store", "bridge/clock", "bridge/factlog", "bridge/guard", "bridge/reconcile", "bridge/repositories"},
	"bridge/adapters":          {"mapping", "bridge/accounts", "bridge/catchup", "bridge/github", "bridge/identity", "bridge/planning", "bridge/poll", "bridge/preflight", "bridge/reconcile", "bridge/repositories", "bridge/webhook"},
	"bridge/budgets":           {"mapping", "store", "bridge/clock", "bridge/effects", "bridge/github", "bridge/reconcile", "bridge/status"},
	"bridge/repositories":      {"mapping", "bridge/factlog", "bridge/guard", "bridge/identity"},
	"bridge/accounts":          {"mapping", "store", "bridge/guard", "bridge/identity"},
	"bridge/preflight":         {"mapping", "store", "bridge/clock", "bridge/epoch", "bridge/factlog", "bridge/guard", "bridge/lease", "bridge/reconcile", "bridge/status"},
	"bridge/links":             {"mapping", "store", "bridge/clock", "bridge/identity", "bridge/inventory", "bridge/reconcile", "bridge/status"},
	"bridge/archive":           {"store", "store/backup", "mapping", "bridge/clock", "bridge/reconcile", "bridge/status"},
	"bridge/decommission":      {"mapping", "store", "bridge/clock", "bridge/inventory", "bridge/links", "bridge/reconcile", "bridge/services", "bridge/status"},
	"bridge/explain":           {"mapping", "store", "bridge/identity", "bridge/poll/seen", "bridge/reconcile", "bridge/status"},
	"bridge/ledger":            {"mapping", "store", "bridge/clock", "bridge/links", "bridge/reconcile", "bridge/status"},
	"bridge/pairing":           {"mapping", "store", "bridge/clock", "bridge/links", "bridge/reconcile", "bridge/status"},
	"bridge/services":          {"mapping", "bridge/reconcile"},
	"bridge/pause":             {"mapping", "store", "bridge/clock", "bridge/reconcile"},
	"bridge/operator":          {"mapping", "store", "bridge/archive", "bridge/burndown", "bridge/clock", "bridge/decommission", "bridge/epoch", "bridge/explain", "bridge/guard", "bridge/identity", "bridge/ledger", "bridge/links", "bridge/pairing", "bridge/pause", "bridge/reconcile", "bridge/services", "bridge/status"},
	"bridge/tuning":            {},
	"bridge/settings":          {"mapping", "config", "bridge/budgets", "bridge/engine", "bridge/preflight", "bridge/reconcile", "bridge/retention", "bridge/status", "bridge/webhook"},
	"bridge/renames":           {"mapping", "store", "bridge/catchup", "bridge/clock", "bridge/identity", "bridge/settings"},
	"bridge/needs":             {"mapping", "bridge/catchup", "bridge/identity", "bridge/pause", "bridge/poll", "bridge/preflight", "bridge/renames", "bridge/retention", "bridge/settings"},
	"bridge/open":              {"mapping", "store", "store/redisstore", "store/boltstore", "config", "bridge/adapters", "bridge/budgets", "bridge/effects", "bridge/epoch", "bridge/explain", "bridge/github", "bridge/operator", "bridge/planning", "bridge/preflight", "bridge/renames", "bridge/settings", "bridge/status"},
	"bridge": {
		"mapping", "store", "config",
		"bridge/github", "bridge/planning", "bridge/webhook", "bridge/clock", "bridge/poll", "bridge/catchup", "bridge/reconcile", "bridge/engine", "bridge/effects", "bridge/status", "bridge/retention", "bridge/session", "bridge/guard", "bridge/monitor", "bridge/factlog", "bridge/lease",
		"bridge/epoch", "bridge/identity", "bridge/jobs", "bridge/operator", "bridge/explain", "bridge/ledger", "bridge/inventory", "bridge/importer", "bridge/verifier", "bridge/preflight", "bridge/repositories", "bridge/accounts", "bridge/metrics", "bridge/milestones", "bridge/requeue", "bridge/adapters", "bridge/budgets",
		"bridge/settings", "bridge/renames", "bridge/needs", "bridge/open",
	},

	"cmd/planbridge":      {"mapping", "store/...", "config", "bridge/..."},
	"cmd/planbridge-demo": {"mapping/...", "store/...", "config", "bridge/..."},
}

// pure are the packages that decide, and leave it to others to act. Each may use the standard
// library without what [impure] lists, and those libraries: text in, text out.
var pure = map[string][]string{
	"mapping":                  {"github.com/aymanbagabas/go-udiff", "github.com/yuin/goldmark", "github.com/microcosm-cc/bluemonday", "golang.org/x/text", "golang.org/x/net/html"},
	"bridge/reconcile":         {},
	"bridge/reconcile/journal": {},
}

// impure lists what a pure package may not even know.
var impure = []string{"os", "io/fs", "net", "net/http", "log", "log/slog", "context", "sync", "math/rand", "math/rand/v2", "database/sql"}

type listedPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	return goList[listedPackage](t, "-e", "-json=ImportPath,Imports")
}

// goList runs go list for the module's packages, and reads what it prints of each as JSON.
func goList[T any](t *testing.T, args ...string) (packages []T) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append(append([]string{"list"}, args...), "./...")...)
	list.Dir = ".."
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p T
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if len(packages) == 0 {
		t.Fatal("go list found no package")
	}
	return packages
}

// TestImports holds the arrows between the packages: the design's drawing stays true of the code.
func TestImports(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := arrows[name]
		if isTestKit(name) {
			allowed, known = []string{"mapping/...", "store/...", "config", "bridge/..."}, true
		}
		if !known {
			t.Errorf("%s is in no arrow of bridge/imports_test.go", name)
			continue
		}
		for _, imported := range p.Imports {
			if inner, ours := strings.CutPrefix(imported, module); ours {
				if !covered(allowed, inner) {
					t.Errorf("%s may not import %s", name, inner)
				}
				if isTestKit(inner) && !isTestKit(name) && name != "cmd/planbridge-demo" {
					t.Errorf("%s imports %s, which is for tests and the demo", name, inner)
				}
			} else if libraries, is := pure[name]; is && !pureImport(imported, libraries) {
				t.Errorf("%s may not import %s: it is pure", name, imported)
			}
		}
	}
}

// isTestKit reports whether a package is there for tests: its name, or that of one
// above it, ends in test, or it is the simulator.
func isTestKit(name string) bool {
	return name == "bridge/sim" ||
		slices.ContainsFunc(strings.Split(name, "/"), func(folder string) bool { return strings.HasSuffix(folder, "test") })
}

func covered(allowed []string, name string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		if parent, all := strings.CutSuffix(a, "/..."); all {
			return name == parent || strings.HasPrefix(name, parent+"/")
		}
		return name == a
	})
}

func pureImport(imported string, libraries []string) bool {
	if slices.Contains(impure, imported) {
		return false
	}
	if host, _, _ := strings.Cut(imported, "/"); !strings.Contains(host, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(libraries, func(library string) bool {
		return imported == library || strings.HasPrefix(imported, library+"/")
	})
}

// TestArrowsTell shows that the rules refuse what they are there for.
func TestArrowsTell(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"store/redisstore", "store/boltstore", false},
		{"bridge/github", "bridge/planning", false},
		{"bridge/webhook", "bridge/github", false},
		{"bridge/status", "config", false},
		{"bridge/reconcile", "bridge", false},
		{"bridge/reconcile", "bridge/engine", false},
		{"bridge/engine", "bridge/reconcile", true},
		{"bridge/engine", "bridge/github", false},
		{"bridge", "bridge/reconcile", true},
		{"bridge/operator", "bridge", false},
		{"bridge/operator", "config", false},
		{"bridge/explain", "bridge/decommission", false},
		{"bridge/pairing", "bridge/operator", false},
		{"bridge/verifier", "bridge/importer", false},
		{"bridge/verifier", "bridge", false},
		{"bridge", "bridge/engine", true},
		{"cmd/planbridge-demo", "bridge/githubtest", true},
		{"cmd/planbridge-demo", "bridge", true},
	} {
		if covered(arrows[tt.from], tt.to) != tt.want {
			t.Errorf("%s → %s is %v", tt.from, tt.to, !tt.want)
		}
	}
	for imported, want := range map[string]bool{
		"strings": true, "time": true, "os": false, "net/http": false,
		"github.com/aymanbagabas/go-udiff/lcs": true, "github.com/redis/go-redis/v9": false,
	} {
		if pureImport(imported, pure["mapping"]) != want {
			t.Errorf("mapping imports %s: %v", imported, !want)
		}
	}
	if pureImport("golang.org/x/text/cases", pure["bridge/reconcile/journal"]) {
		t.Error("the journal imports a library")
	}
}

// TestJournalReadsNoClock holds that the journal is told what time it is: of package time it
// uses the types alone.
func TestJournalReadsNoClock(t *testing.T) {
	files, err := filepath.Glob("reconcile/journal/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name := range clockCalls(parsed) {
			t.Errorf("%s calls time.%s: the time is an argument", file, name)
		}
	}
}

// clockCalls visits the names that a file uses of package time and that read the clock or wait.
func clockCalls(file *ast.File) iter.Seq[string] {
	clocks := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	return func(yield func(string) bool) {
		ast.Inspect(file, func(n ast.Node) bool {
			used, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := used.X.(*ast.Ident)
			return !ok || of.Name != "time" || !slices.Contains(clocks, used.Sel.Name) || yield(used.Sel.Name)
		})
	}
}

// TestClockCallsAreFound shows that the rule refuses what it is there for.
func TestClockCallsAreFound(t *testing.T) {
	for source, want := range map[string]int{
		"var x = time.Now()":                      1,
		"var x = time.Since(time.Time{})":         1,
		"var x = time.Second":                     0,
		"var x = func() any { return time.Now }":  1,
		"type clock struct{ Now int }; var x = 1": 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(slices.Collect(clockCalls(file))); n != want {
			t.Errorf("%s: %d calls, want %d", source, n, want)
		}
	}
}
