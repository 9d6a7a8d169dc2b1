package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// output is the flag of commands that print data.
type output struct {
	Output string `short:"o" enum:"table,json" default:"table" placeholder:"table|json" help:"Print a table, or the JSON of the API."`
}

// print prints v as JSON, or calls table.
func (o output) print(p *process, v any, table func() error) error {
	if o.Output != "json" {
		return table()
	}
	enc := json.NewEncoder(p.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// table prints rows in columns under a head.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, head ...string) *table {
	t := &table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.row(head...)
	return t
}

// row adds a row.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = cmp.Or(oneLine(c), "-")
	}
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

func (t *table) flush() error { return t.w.Flush() }

// oneLine keeps a person's text on one line, and its control characters from the terminal.
func oneLine(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		quoted := strconv.Quote(s)
		return quoted[1 : len(quoted)-1]
	}
	return s
}

// brief is a value of any length in a cell.
func brief(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
