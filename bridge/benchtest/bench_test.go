//go:build bench

package benchtest_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNumbers measures each number of the design beside its limit or its peer, in one run. Each row
// has a process of its own. The test prints the table of docs/performance.md. Times never fail it,
// as a machine may be busy. The environment sets the amount:
//
//	PLANBRIDGE_BENCH_ROWS  the rows to run, by name, separated by commas; "": all
//	PLANBRIDGE_BENCH_SIZE  per cent of the usual sizes; "": 100
//	PLANBRIDGE_BENCH_RAW   a file for the raw figures, as JSON lines; "": none
func TestNumbers(t *testing.T) {
	n := &numbers{t: t, size: 100}
	if s := os.Getenv("PLANBRIDGE_BENCH_SIZE"); s != "" {
		size, err := strconv.Atoi(s)
		if err != nil || size < 1 {
			t.Fatalf("PLANBRIDGE_BENCH_SIZE is %q, want a number of per cent", s)
		}
		n.size = size
	}
	rows := []struct {
		name    string
		measure func(*numbers)
	}{
		{"calls", measureCalls},
		{"intake", measureIntake},
		{"poll", measurePoll},
		{"firstpoll", measureFirstPoll},
		{"reconcile", measureReconcile},
		{"store", measureStore},
		{"replicas", measureReplicas},
		{"import", measureImport},
		{"memory", measureMemory},
		{"look", measureLook},
		{"year", measureYear},
		{"hour", measureHour},
		{"outage", measureOutage},
		{"writes", measureWrites},
	}
	if name, file, ok := strings.Cut(os.Getenv(rowEnv), "="); ok {
		for _, m := range rows {
			if m.name == name {
				m.measure(n)
			}
		}
		n.save(file)
		return
	}
	wanted := strings.FieldsFunc(os.Getenv("PLANBRIDGE_BENCH_ROWS"), func(r rune) bool { return r == ',' || r == ' ' })
	for _, m := range rows {
		if len(wanted) == 0 || slices.Contains(wanted, m.name) {
			t.Run(m.name, func(t *testing.T) { n.apart(t, m.name) })
		}
	}
	n.print()
}

// rowEnv has a process measure one row alone: its name, "=", and the file for what
// it finds.
const rowEnv = "PLANBRIDGE_BENCH_ROW"

// apart measures a row in a process of its own, once all earlier writes are on the disk. So no row
// runs with the memory, connections and dirty pages of others.
func (n *numbers) apart(t *testing.T, name string) {
	t.Helper()
	syscall.Sync()
	file := filepath.Join(t.TempDir(), name+".json")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestNumbers$", "-test.v", "-test.timeout", "0")
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), rowEnv+"="+name+"="+file), os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("row %s: %v", name, err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found numbers
	if err := json.Unmarshal(data, &found); err != nil {
		t.Fatal(err)
	}
	n.Rows, n.Raw = append(n.Rows, found.Rows...), append(n.Raw, found.Raw...)
}

func (n *numbers) save(file string) {
	data, err := json.Marshal(n)
	if err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		n.t.Fatal(err)
	}
}

// numbers gathers the rows of the table.
type numbers struct {
	t    *testing.T
	size int // per cent
	Rows []row
	Raw  []rawFigure
}

// row is one measured figure. Those of the same what are one line of the table,
// in which %s stands for what each of them was measured at.
type row struct {
	What, At, Got, Goal string
	Missed              bool
}

// rawFigure is one measured value.
type rawFigure struct {
	Row   string  `json:"row"`
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// scaled is n items, or fewer where a smaller run was asked for.
func (n *numbers) scaled(items int) int { return max(items*n.size/100, 1) }

func (n *numbers) record(row, what string, value float64, unit string) {
	n.Raw = append(n.Raw, rawFigure{row, what, value, unit})
	n.t.Logf("%s: %s: %.4g %s", row, what, value, unit)
}

// atLeast and atMost add a row of which got is held to a bound.
func (n *numbers) atLeast(what, at string, got, goal float64) {
	n.Rows = append(n.Rows, row{what, at, figure(got), "≥ " + figure(goal), got < goal})
}

func (n *numbers) atMost(what, at string, got, goal float64) {
	n.Rows = append(n.Rows, row{what, at, figure(got), "≤ " + figure(goal), got > goal})
}

// shown adds a row that has no bound.
func (n *numbers) shown(what, at, got string) {
	n.Rows = append(n.Rows, row{What: what, At: at, Got: got})
}

// figure writes a number with two digits behind the point, a large one with none,
// a small one with one that counts.
func figure(f float64) string {
	switch {
	case f >= 100:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case f < 0.1:
		return strconv.FormatFloat(f, 'g', 1, 64)
	}
	return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64)
}

func (n *numbers) print() {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s, %d cores, %s\n\n| what | measured | goal | |\n|---|---|---|---|\n", runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.Version())
	for len(n.Rows) > 0 {
		var line []row
		what := n.Rows[0].What
		n.Rows = slices.DeleteFunc(n.Rows, func(r row) bool {
			if r.What == what {
				line = append(line, r)
			}
			return r.What == what
		})
		b.WriteString(tableLine(what, line))
	}
	fmt.Println(b.String())
	path := os.Getenv("PLANBRIDGE_BENCH_RAW")
	if path == "" {
		return
	}
	f, err := os.Create(path)
	if err != nil {
		n.t.Fatal(err)
	}
	enc := json.NewEncoder(f)
	for _, r := range n.Raw {
		if err := enc.Encode(r); err != nil {
			n.t.Error(err)
		}
	}
	if err := f.Close(); err != nil {
		n.t.Error(err)
	}
}

// tableLine is the line of all figures of one kind.
func tableLine(what string, figures []row) string {
	var at, got, goals []string
	mark := ""
	for _, r := range figures {
		at, got, goals = append(at, r.At), append(got, r.Got), append(goals, r.Goal)
		if r.Missed {
			mark = "missed"
		}
	}
	goals = slices.Compact(goals)
	return fmt.Sprintf("| %s | %s | %s | %s |\n", strings.Replace(what, "%s", strings.Join(at, ", "), 1), strings.Join(got, ", "), strings.Join(goals, ", "), mark)
}

// median is the middle one.
func median[T int | float64 | time.Duration](values []T) T { return quantile(values, 0.5) }

// quantile is the value that the share q of all do not exceed.
func quantile[T int | float64 | time.Duration](values []T, q float64) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
