package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"planbridge/bridge/status"
	"planbridge/mapping/pagetest"
)

// exported is an export in both forms, which have to say the same.
func exported(op *operator, args ...string) []map[string]string {
	op.t.Helper()
	args = append([]string{"export"}, args...)
	table, err := csv.NewReader(strings.NewReader(op.fine(args...))).ReadAll()
	if err != nil || len(table) == 0 {
		op.t.Fatalf("%v: %v, %v", args, table, err)
	}
	var rows []map[string]string
	for _, cells := range table[1:] {
		row := map[string]string{}
		for i, name := range table[0] {
			if cells[i] != "" {
				row[name] = cells[i]
			}
		}
		rows = append(rows, row)
	}
	n := 0
	for lines := bufio.NewScanner(strings.NewReader(op.fine(append(args, "--format", "jsonl")...))); lines.Scan(); n++ {
		var row map[string]any
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.UseNumber()
		if err := dec.Decode(&row); err != nil || n >= len(rows) || len(row) != len(rows[n]) {
			op.t.Fatalf("%v: line %d: %s: %v", args, n+1, lines.Bytes(), err)
		}
		for name, value := range row {
			if text := fmt.Sprint(value); text != strings.TrimPrefix(rows[n][name], "'") {
				op.t.Errorf("%v: row %d: %s is %q as JSON and %q in CSV", args, n+1, name, text, rows[n][name])
			}
		}
	}
	if n != len(rows) {
		op.t.Errorf("%v: %d lines of JSON, %d rows of CSV", args, n, len(rows))
	}
	return rows
}

// TestExport: each export says what the store holds, with a service and without.
func TestExport(t *testing.T) {
	op := lived(t)
	project := op.world.Project.ID()
	if op.fine("export", "links", "-o", "json") != op.fine("export", "links", "--format", "jsonl") {
		t.Error("-o json prints no lines of JSON")
	}
	verify := func() {
		t.Helper()
		links := exported(op, "links")
		kinds := map[string]int{}
		for _, l := range links {
			kinds[l["kind"]]++
			if l["route"] != "acme/web" || l["project"] != "web" || l["link"] == "" || l["card"] == "" != (l["number"] == "7") {
				t.Errorf("of a link: %v", l)
			}
		}
		if kinds["root"] != 2 || kinds["tracking"] != 1 {
			t.Errorf("links of %v", kinds)
		}
		conflicts := exported(op, "conflicts")
		if len(conflicts) != 1 || conflicts[0]["github"] != "Theirs\x1b[31m" || conflicts[0]["planning"] != strings.Repeat("Ours ", 50) || conflicts[0]["id"] != "00000000000000c1" {
			t.Errorf("conflicts: %v", conflicts)
		}
		history := exported(op, "history", "--route", "acme/web")
		if !slices.ContainsFunc(history, func(h map[string]string) bool { return h["where"] == "acme/web#1" && h["what"] == "create" }) {
			t.Errorf("history: %v", history)
		}
		if got := exported(op, "links", "--project", project); len(got) != len(links) {
			t.Errorf("of the project by its id: %v", got)
		}
		for _, none := range [][2]string{{"--route", "nobody"}, {"--project", "none"}} {
			want := strings.TrimPrefix(none[0], "--") + " " + none[1] + ": not found\n"
			if r := op.run("export", "conflicts", none[0], none[1]); r.status != exitUsage || !strings.HasSuffix(r.stderr, want) || r.out != "" {
				t.Errorf("export %v: %+v", none, r)
			}
		}
	}
	verify()
	if err := op.world.StopBridge(); err != nil {
		t.Fatal(err)
	}
	verify()
}

// TestExportCut: rows that are not all there are told from those that are.
func TestExportCut(t *testing.T) {
	c := &exportCmd{What: status.ExportConflicts, Format: "jsonl"}
	for name, tt := range map[string]struct{ answer, says, out string }{
		"cut":     {`{"id":"a"}` + "\n" + `{"id`, "the answer ends after 1 row", `{"id":"a"}` + "\n"},
		"empty":   {"", "the answer ends after 0 rows", ""},
		"broken":  {`{"id":"a"}` + "\n" + `{"end":true,"rows":1,"error":"redis is away"}` + "\n", "not complete: redis is away", `{"id":"a"}` + "\n"},
		"nothing": {`{"end":true,"rows":0}` + "\n", "<nil>", ""},
	} {
		var out strings.Builder
		err := c.write(&out, strings.NewReader(tt.answer))
		if !strings.Contains(fmt.Sprint(err), tt.says) || out.String() != tt.out {
			t.Errorf("%s: %v, %q", name, err, out.String())
		}
	}
}

// TestExportCells: a spreadsheet takes no text for a formula.
func TestExportCells(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value any
		want  string
	}{
		{nil, ""},
		{"", ""},
		{"plain = text", "plain = text"},
		{json.Number("-2500000024"), "-2500000024"},
		{"=1+1", "'=1+1"},
		{"+1", "'+1"},
		{"-1", "'-1"},
		{"@a", "'@a"},
		{"\t=1", "'\t=1"},
		{"\r=1", "'\r=1"},
	} {
		if got := cell(tt.value); got != tt.want {
			t.Errorf("%q is %q, expected %q", tt.value, got, tt.want)
		}
	}
}

// TestExportColumns: the page on operations lists the columns of each export.
func TestExportColumns(t *testing.T) {
	t.Parallel()
	spans := pagetest.Read(t, root, "docs/operations.md").Spans
	for _, what := range []string{status.ExportLinks, status.ExportHistory, status.ExportConflicts} {
		columns := status.ExportColumns(what)
		found := false
		for i := range spans {
			found = found || len(spans[i:]) >= len(columns) && slices.Equal(spans[i:i+len(columns)], columns)
		}
		if !found {
			t.Errorf("docs/operations.md does not list the columns of %s: %v", what, columns)
		}
	}
}
