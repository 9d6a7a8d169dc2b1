package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"planbridge/bridge/status"
	"planbridge/mapping"
)

type exportCmd struct {
	What    string `arg:"" enum:"links,history,conflicts" help:"What to export: links, history or conflicts."`
	Route   string `placeholder:"NAME" help:"Only what is of this route."`
	Project string `placeholder:"NAME" help:"Only what is of this planning project, by its name in the configuration or its id."`
	Format  string `placeholder:"csv|jsonl" enum:"csv,jsonl" default:"csv" help:"CSV with a head, or a line of JSON for each row."`
	Output  string `short:"o" enum:"table,json" default:"table" placeholder:"table|json" help:"As for other commands: json is --format jsonl."`
}

// Help is what planbridge export --help adds.
func (c *exportCmd) Help() string {
	return `The rows go to standard output while they are read. Exit status 1 says that they are not complete. In CSV a text that a spreadsheet
would take for a formula has an apostrophe before it; JSON lines hold each text as it is. docs/operations.md lists the columns.`
}

// Run implements the command.
func (c *exportCmd) Run(ctx context.Context, p *process) error {
	if c.Output == "json" {
		c.Format = "jsonl"
	}
	return with(ctx, p, func(api *client) error {
		ask := status.ExportAsk{What: c.What, Route: c.Route, Project: c.Project}
		resp, err := api.unhurried().send(ctx, http.MethodPost, "/api/v1/export", ask)
		if err != nil {
			return err
		}
		err = c.write(p.stdout, resp.Body)
		return errors.Join(err, resp.Body.Close())
	})
}

// write prints the rows that an answer brings.
func (c *exportCmd) write(w io.Writer, rows io.Reader) error {
	row, flush := c.lines(w)
	if c.Format == "csv" {
		row, flush = c.table(w)
	}
	in := bufio.NewReader(rows)
	for n := 0; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return errors.Join(flush(), fmt.Errorf("export: the answer ends after %s: %w", mapping.Count(n, "row", "rows"), err))
		}
		if end, ended := endOf(line); ended {
			_, _ = io.Copy(io.Discard, in) // until the service is ready for another export
			if end.Error != "" {
				err = fmt.Errorf("the export is not complete: %s", end.Error)
			}
			return errors.Join(flush(), err)
		}
		if err := row(line); err != nil {
			return fmt.Errorf("export: row %d: %w", n+1, err)
		}
	}
}

// endOf reads the last line of an answer, and reports whether the line is it.
func endOf(line []byte) (end status.ExportEnd, ended bool) {
	ended = bytes.HasPrefix(line, []byte(`{"end":`)) && json.Unmarshal(line, &end) == nil
	return end, ended
}

// lines prints rows as they come.
func (c *exportCmd) lines(w io.Writer) (row func([]byte) error, flush func() error) {
	out := bufio.NewWriter(w)
	return func(line []byte) error {
		_, err := out.Write(line)
		return err
	}, out.Flush
}

// table prints rows as CSV, under a head.
func (c *exportCmd) table(w io.Writer) (row func([]byte) error, flush func() error) {
	out, columns := csv.NewWriter(w), status.ExportColumns(c.What)
	fault := out.Write(columns)
	cells := make([]string, len(columns))
	row = func(line []byte) error {
		values := map[string]any{}
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.UseNumber()
		if err := errors.Join(fault, dec.Decode(&values)); err != nil {
			return err
		}
		for i, name := range columns {
			cells[i] = cell(values[name])
		}
		return out.Write(cells)
	}
	return row, func() error {
		out.Flush()
		return out.Error()
	}
}

// cell is a value in CSV. A spreadsheet would take some texts for formulas.
func cell(value any) string {
	text, isText := value.(string)
	switch {
	case value == nil:
		return ""
	case !isText:
		return fmt.Sprint(value)
	case text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])):
		return "'" + text
	}
	return text
}
