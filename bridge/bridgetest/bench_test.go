//go:build bench

package bridgetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestNumbers measures each number of the design beside its limit or its peer,
// in one run, and prints the table that the README shows. Times never fail it:
// a machine is busy or it is not. The environment says how much:
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
	wanted := strings.FieldsFunc(os.Getenv("PLANBRIDGE_BENCH_ROWS"), func(r rune) bool { return r == ',' || r == ' ' })
	for _, m := range []struct {
		name    string
		measure func(*numbers)
	}{
		{"calls", measureCalls}, {"intake", measureIntake}, {"poll", measurePoll}, {"reconcile", measureReconcile},
		{"store", measureStore}, {"replicas", measureReplicas}, {"import", measureImport}, {"memory", measureMemory},
	} {
		if len(wanted) == 0 || slices.Contains(wanted, m.name) {
			t.Run(m.name, func(t *testing.T) {
				part := numbers{t: t, size: n.size}
				m.measure(&part)
				n.rows, n.raw = append(n.rows, part.rows...), append(n.raw, part.raw...)
			})
		}
	}
	n.print()
}

// numbers gathers the rows of the table.
type numbers struct {
	t    *testing.T
	size int // per cent
	rows []row
	raw  []rawFigure
}

// row is one line of the table.
type row struct {
	what, got, goal string
	reached         bool
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
	n.raw = append(n.raw, rawFigure{row, what, value, unit})
	n.t.Logf("%s: %s: %.4g %s", row, what, value, unit)
}

// atLeast and atMost add a row of which got is held to a bound.
func (n *numbers) atLeast(what string, got, goal float64) {
	n.rows = append(n.rows, row{what, fmt.Sprintf("%.3g", got), fmt.Sprintf("≥ %.3g", goal), got >= goal})
}

func (n *numbers) atMost(what string, got, goal float64) {
	n.rows = append(n.rows, row{what, fmt.Sprintf("%.3g", got), fmt.Sprintf("≤ %.3g", goal), got <= goal})
}

// shown adds a row that has no bound.
func (n *numbers) shown(what, got string) {
	n.rows = append(n.rows, row{what: what, got: got, reached: true})
}

func (n *numbers) print() {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s, %d cores, %s\n\n| what | measured | goal | |\n|---|---|---|---|\n", runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.Version())
	for _, r := range n.rows {
		mark := ""
		if !r.reached {
			mark = "missed"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.what, r.got, r.goal, mark)
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
	for _, r := range n.raw {
		if err := enc.Encode(r); err != nil {
			n.t.Error(err)
		}
	}
	if err := f.Close(); err != nil {
		n.t.Error(err)
	}
}

// wait is until with a bound of its own, and without the whole world in its
// message.
func (w *world) wait(what string, bound time.Duration, cond func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), bound)
	defer cancel()
	if err := w.Until(ctx, cond); err != nil {
		if w.App == nil {
			w.t.Fatalf("never: %s", what)
		}
		queues, err := w.App.Operator().Overview(w.t.Context())
		w.t.Fatalf("never: %s; queues: %+v, %v", what, queues, err)
	}
}

// nothingDue reports whether no key is due or waits for a service. Keys that
// are looked at again later do not count.
func (w *world) nothingDue() bool {
	queues, err := w.App.Operator().Overview(w.t.Context())
	for _, q := range queues {
		if !q.Oldest.IsZero() || len(q.Waiting) > 0 {
			return false
		}
	}
	return err == nil
}

// median is the middle one.
func median[T int | float64 | time.Duration](values []T) T { return quantile(values, 0.5) }

// quantile is the value that the share q of all do not exceed.
func quantile[T int | float64 | time.Duration](values []T, q float64) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
