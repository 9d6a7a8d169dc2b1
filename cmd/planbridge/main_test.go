package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"planbridge/bridge/bridgetest"
)

// binary is the program as it is shipped.
var binary string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	var connections int
	var addr string
	if n, _ := fmt.Sscan(os.Getenv(forgeEnv), &connections, &addr); n == 2 { //nolint:errcheck // as usual there is none
		forge(addr, connections)
		return 0
	}
	dir, err := os.MkdirTemp("", "planbridge-cmd-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "planbridge")
	build := exec.Command("go", "build", "-ldflags", "-X main.version=v0.0.0-test", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as a release is built
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// operator is somebody with a shell on the machine of a world.
type operator struct {
	t      *testing.T
	world  *bridgetest.World
	config string            // path
	env    map[string]string // over the world's
	// program is the binary to serve with; "": the one under test.
	program string
}

// newOperator makes a world without a bridge, and the configuration that edit
// made of the world's.
func newOperator(t *testing.T, o bridgetest.Options, edit func(string) string) *operator {
	t.Helper()
	o.Dir, o.Idle = t.TempDir(), true
	w := bridgetest.StartIn(t, o).World
	op := &operator{t: t, world: w, config: filepath.Join(o.Dir, "planbridge.yaml"), env: map[string]string{}}
	for _, name := range []string{"GITHUB_WEBHOOK_SECRET", "GITHUB_TOKEN", "PLANNING_WEB_SECRET", "PLANBRIDGE_MARKER_KEY"} {
		op.env[name], _ = w.Env(name)
	}
	op.write(edit)
	return op
}

// write writes the configuration.
func (op *operator) write(edit func(string) string) {
	op.t.Helper()
	text := op.world.YAML()
	if edit != nil {
		text = edit(text)
	}
	if err := os.WriteFile(op.config, []byte(text), 0o600); err != nil {
		op.t.Fatal(err)
	}
}

// admin says in the configuration where the world's own bridge is.
func (op *operator) admin() {
	op.t.Helper()
	op.write(replace(`admin_listen: "127.0.0.1:0"`, fmt.Sprintf("admin_listen: %q", op.world.App.AdminAddr())))
}

func replace(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }

// result is what a command left.
type result struct {
	status      int
	out, stderr string
}

// run runs a command in this process.
func (op *operator) run(args ...string) result {
	op.t.Helper()
	env := maps.Clone(op.env)
	env["PLANBRIDGE_CONFIG"] = op.config
	return runWith(op.t, env, args...)
}

func runWith(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	var out, stderr bytes.Buffer
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	code := run(t.Context(), args, &out, &stderr, lookup)
	return result{code, out.String(), stderr.String()}
}

// fine runs a command that has to succeed in silence, and returns its output.
func (op *operator) fine(args ...string) string {
	op.t.Helper()
	r := op.run(args...)
	if r.status != exitOK || r.stderr != "" {
		op.t.Errorf("planbridge %s: status %d\n%s%s", strings.Join(args, " "), r.status, r.out, r.stderr)
	}
	return r.out
}

var (
	times = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	ids   = regexp.MustCompile(`\b([0-9a-f]{24}|[0-9a-f]{16})\b`)
	gaps  = regexp.MustCompile(` {2,}`)
)

// plain takes out of an output what differs from run to run.
func plain(s string) string {
	s = times.ReplaceAllString(s, "TIME")
	return gaps.ReplaceAllString(ids.ReplaceAllString(s, "ID"), "  ")
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args   string
		status int
		says   string // on stderr; of help on stdout
	}{
		{"", exitUsage, `expected one of "serve", "check", "import"`},
		{"bogus", exitUsage, "unexpected argument bogus"},
		{"links --bogus", exitUsage, "unknown flag --bogus"},
		{"links -o xml", exitUsage, `--output must be one of "table","json"`},
		{"links --state lost", exitUsage, `--state must be one of "entering","creating","linked","left","orphaned","dormant","erased" but got "lost"`},
		{"links --state ''", exitUsage, `--state must be one of "entering",`},
		{"links --route ''", exitUsage, `--route: "", expected a value`},
		{"links --limit many", exitUsage, "--limit: expected a valid 64 bit int"},
		{"links --limit 0", exitUsage, "--limit: 0, expected a number from 1"},
		{"links --config ''", exitUsage, `--config: "", expected a value`},
		{"conflicts --limit=-1", exitUsage, "--limit: -1, expected a number from 1"},
		{"conflicts resolve '' github", exitUsage, `<id>: "", expected a value`},
		{"conflicts resolve 1 nobody", exitUsage, `<winner> must be one of "planning","github" but got "nobody"`},
		{"import --state ''", exitUsage, `--state must be one of "open","all" but got ""`},
		{"import --match ''", exitUsage, `--match must be one of "title" but got ""`},
		{"import --match body", exitUsage, `--match must be one of "title" but got "body"`},
		{"import --route ''", exitUsage, `--route: "", expected a value`},
		{"import --lease=-1s", exitUsage, "--lease: -1s, expected a duration above 0"},
		{"serve --lease 0s", exitUsage, "--lease: 0s, expected a duration above 0"},
		{"backup", exitUsage, `expected "<file>"`},
		{"backup ''", exitUsage, `<file>: "", expected a value`},
		{"backup a b", exitUsage, "unexpected argument b"},
		{"backup --overwrite a", exitUsage, "unknown flag --overwrite"},
		{"restore", exitUsage, `expected "<file>"`},
		{"restore --force", exitUsage, `expected "<file>"`},
		{"pause ''", exitUsage, `<route>: "", expected a value`},
		{"link acme/web#1 ''", exitUsage, `<card>: "", expected a value`},
		{"explain", exitUsage, `expected "<issue>"`},
		{"failures retry", exitUsage, `expected "<key>"`},
		{"serve --log-level loud", exitUsage, "--log-level must be one of"},
		{"--help", exitOK, "failures retry"},
		{"links --help", exitOK, "--state=STATE"},
		{"failures --help", exitOK, "failures list"},
		{"failures retry --help", exitOK, "<key>"},
		{"serve --help", exitOK, "--dry-run"},
	} {
		args := strings.Fields(tt.args)
		for i := range args {
			args[i] = strings.Trim(args[i], "'")
		}
		r := runWith(t, nil, args...)
		said := r.stderr
		if tt.status == exitOK {
			said = r.out
		}
		if r.status != tt.status || !strings.Contains(said, tt.says) {
			t.Errorf("planbridge %s: status %d\n%s%s", tt.args, r.status, r.out, r.stderr)
		}
	}
}

// Every command that needs the configuration says all that is wrong with it.
func TestBadConfiguration(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("server: {listne: ':1'}\nroutes: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"serve", "check", "links", "failures", "failures retry all", "conflicts", "explain acme/web#1", "health"} {
		args := strings.Fields(command)
		r := runWith(t, nil, append(args, "--config", bad)...)
		lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
		if r.status != exitUsage || len(lines) < 3 || !strings.Contains(r.stderr, "\n"+bad+":1:10: server.listne: unknown key") {
			t.Errorf("%s: status %d\n%s", command, r.status, r.stderr)
		}
		missing := filepath.Join(dir, "none.yaml")
		r = runWith(t, map[string]string{"PLANBRIDGE_CONFIG": missing}, args...)
		if want := "planbridge: configuration: open " + missing + ": no such file or directory\n"; r.status != exitUsage || r.stderr != want {
			t.Errorf("%s: status %d\n%s", command, r.status, r.stderr)
		}
	}
}
