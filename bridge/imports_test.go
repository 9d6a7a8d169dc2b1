package bridge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "planbridge/"

// arrows says what each package may import of this module, in its production
// code. What is not here may not exist: a new package comes with its arrows.
// A name that ends in /... stands for all packages below it.
var arrows = map[string][]string{
	"mapping": {},
	"config":  {},

	"store":                 {"mapping"},
	"store/internal/rules":  {"mapping", "store"},
	"store/internal/queue":  {"mapping", "store", "store/internal/rules"},
	"store/internal/budget": {"store", "store/internal/rules"},
	"store/redisstore":      {"mapping", "store", "store/internal/rules"},
	"store/boltstore":       {"mapping", "store", "store/internal/..."},
	"store/memstore":        {"mapping", "store", "store/internal/..."},
	"store/backup":          {"store", "store/internal/rules"},

	"bridge/guard":     {},
	"bridge/github":    {"mapping"},
	"bridge/planning":  {"mapping"},
	"bridge/webhook":   {"mapping", "store", "bridge/guard"},
	"bridge/poll":      {"mapping", "store", "bridge/guard"},
	"bridge/reconcile": {"mapping", "store", "bridge/guard"},
	"bridge/engine":    {"mapping", "store", "bridge/guard", "bridge/reconcile"},
	"bridge/status":    {"mapping", "store", "bridge/guard"},
	"bridge/retention": {"mapping", "store", "bridge/guard"},
	"bridge/session":   {"mapping", "store", "bridge/guard"},
	"bridge": {
		"mapping", "store", "store/redisstore", "store/boltstore", "store/backup", "config",
		"bridge/github", "bridge/planning", "bridge/webhook", "bridge/poll", "bridge/reconcile", "bridge/engine", "bridge/status", "bridge/retention", "bridge/session", "bridge/guard",
	},

	"cmd/planbridge":      {"mapping", "store/...", "config", "bridge/..."},
	"cmd/planbridge-demo": {"mapping/...", "store/...", "config", "bridge/..."},
}

// impure lists what the planner's package may not even know: it decides, and others act.
var impure = []string{"os", "io/fs", "net", "net/http", "log", "log/slog", "context", "sync", "math/rand", "math/rand/v2", "database/sql"}

// pureLibraries are the libraries that mapping may use: text in, text out.
var pureLibraries = []string{"github.com/aymanbagabas/go-udiff", "github.com/yuin/goldmark", "github.com/microcosm-cc/bluemonday", "golang.org/x/text", "golang.org/x/net/html"}

type listedPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports", "./...")
	list.Dir = ".."
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []listedPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
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

// TestImports holds the arrows between the packages: what is drawn in the
// design stays true of the code.
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
			} else if name == "mapping" && !pureImport(imported) {
				t.Errorf("mapping may not import %s: it is pure", imported)
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

func pureImport(imported string) bool {
	if slices.Contains(impure, imported) {
		return false
	}
	if host, _, _ := strings.Cut(imported, "/"); !strings.Contains(host, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(pureLibraries, func(library string) bool {
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
		if pureImport(imported) != want {
			t.Errorf("mapping imports %s: %v", imported, !want)
		}
	}
}
