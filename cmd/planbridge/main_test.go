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
	if r.status != exitFine || r.stderr != "" {
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
		{"", exitMisuse, `expected one of "serve", "check", "import"`},
		{"bogus", exitMisuse, "unexpected argument bogus"},
		{"links --bogus", exitMisuse, "unknown flag --bogus"},
		{"links -o xml", exitMisuse, `--output must be one of "table","json"`},
		{"links --state lost", exitMisuse, `--state must be one of "entering","creating","linked","left","orphaned","dormant","erased" but got "lost"`},
		{"links --state ''", exitMisuse, `--state must be one of "entering",`},
		{"links --route ''", exitMisuse, `--route: "", expected a value`},
		{"links --limit many", exitMisuse, "--limit: expected a valid 64 bit int"},
		{"links --limit 0", exitMisuse, "--limit: 0, expected a number from 1"},
		{"links --config ''", exitMisuse, `--config: "", expected a value`},
		{"conflicts --limit=-1", exitMisuse, "--limit: -1, expected a number from 1"},
		{"conflicts resolve '' github", exitMisuse, `<id>: "", expected a value`},
		{"conflicts resolve 1 nobody", exitMisuse, `<winner> must be one of "planning","github" but got "nobody"`},
		{"import --state ''", exitMisuse, `--state must be one of "open","all" but got ""`},
		{"import --match ''", exitMisuse, `--match must be one of "title" but got ""`},
		{"import --match body", exitMisuse, `--match must be one of "title" but got "body"`},
		{"import --route ''", exitMisuse, `--route: "", expected a value`},
		{"import --lease=-1s", exitMisuse, "--lease: -1s, expected a duration above 0"},
		{"serve --lease 0s", exitMisuse, "--lease: 0s, expected a duration above 0"},
		{"backup", exitMisuse, `expected "<file>"`},
		{"backup ''", exitMisuse, `<file>: "", expected a value`},
		{"backup a b", exitMisuse, "unexpected argument b"},
		{"backup --overwrite a", exitMisuse, "unknown flag --overwrite"},
		{"restore", exitMisuse, `expected "<file>"`},
		{"restore --force", exitMisuse, `expected "<file>"`},
		{"pause ''", exitMisuse, `<route>: "", expected a value`},
		{"link acme/web#1 ''", exitMisuse, `<card>: "", expected a value`},
		{"explain", exitMisuse, `expected "<issue>"`},
		{"failures retry", exitMisuse, `expected "<key>"`},
		{"serve --log-level loud", exitMisuse, "--log-level must be one of"},
		{"--help", exitFine, "failures retry"},
		{"links --help", exitFine, "--state=STATE"},
		{"failures --help", exitFine, "failures list"},
		{"failures retry --help", exitFine, "<key>"},
		{"serve --help", exitFine, "--dry-run"},
	} {
		args := strings.Fields(tt.args)
		for i := range args {
			args[i] = strings.Trim(args[i], "'")
		}
		r := runWith(t, nil, args...)
		said := r.stderr
		if tt.status == exitFine {
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
		if r.status != exitMisuse || len(lines) < 3 || !strings.Contains(r.stderr, "\n"+bad+":1:10: server.listne: unknown key") {
			t.Errorf("%s: status %d\n%s", command, r.status, r.stderr)
		}
		missing := filepath.Join(dir, "none.yaml")
		r = runWith(t, map[string]string{"PLANBRIDGE_CONFIG": missing}, args...)
		if want := "planbridge: configuration: open " + missing + ": no such file or directory\n"; r.status != exitMisuse || r.stderr != want {
			t.Errorf("%s: status %d\n%s", command, r.status, r.stderr)
		}
	}
}
