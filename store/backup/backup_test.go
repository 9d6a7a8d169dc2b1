package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/backup"
)

// fixed is a store with these entries, which fails after them.
type fixed struct {
	entries []store.Entry
	fails   error
}

func (f fixed) Dump(_ context.Context, visit func(store.Entry) error) error {
	for _, e := range f.entries {
		if err := visit(e); err != nil {
			return err
		}
	}
	return f.fails
}

func (fixed) Load(context.Context, iter.Seq2[store.Entry, error], bool) error { return nil }

var noon = time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)

// whole has one entry of each kind.
var whole = []store.Entry{
	{Document: &store.Document{Name: "watermark", Data: []byte("text\x00\xff")}},
	{Project: "p", Marks: &store.MarkSet{Set: "cards", Marks: map[string]string{"a": "1", "": "\x1f"}}},
	{Project: "p", Deliveries: []store.Delivery{{Key: []byte("\x00\xff key"), At: noon}}},
	{Project: "p", Record: &store.Record{
		Link:    &mapping.Link{ID: "l1", Project: "p", Route: "web", Pair: mapping.Pair{State: mapping.Linked, Issue: mapping.IssueID{ID: 1, Repo: "acme/web", Number: 12}}},
		History: []mapping.Entry{{At: noon, What: "write"}},
		Place:   store.Queued, Due: noon, Attempts: 2, Events: [][]byte{[]byte("event \x00")},
		Inbox: map[mapping.Ref]store.Snapshot{"issue:1": {At: 5, Digest: "d", Data: []byte(`{"x":1}`), Seen: noon}},
	}},
	{Project: "p", Record: &store.Record{Link: &mapping.Link{ID: "l2", Project: "p"}}},
	{Project: "p", Spoilt: "link p/l3: it is no JSON"},
	{Project: "p", Conflict: &mapping.Conflict{ID: "c", Project: "p", GitHub: "mine", Planning: "<theirs>", At: noon}},
}

func written(t *testing.T, s fixed) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := backup.Write(t.Context(), &out, s, backup.Header{Program: "v1", Store: "file", At: noon}); !errors.Is(err, s.fails) {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRoundTrip(t *testing.T) {
	file := written(t, fixed{entries: whole})
	s, err := backup.Check(bytes.NewReader(file))
	want := backup.Summary{
		Header: backup.Header{Kind: "backup", Format: 1, Schema: store.Schema, Program: "v1", Store: "file", At: noon},
		Counts: backup.Counts{Entries: 7, Links: 2, Conflicts: 1, Documents: 1, Marks: 2, Deliveries: 1, Spoilt: 1},
		SHA256: s.SHA256, Lost: []string{"link p/l3: it is no JSON"},
	}
	if diff := cmp.Diff(want, s); diff != "" || err != nil || len(s.SHA256) != 64 {
		t.Errorf("Check: %v\n%s", err, diff)
	}
	var got []store.Entry
	for e, err := range backup.Entries(bytes.NewReader(file)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if diff := cmp.Diff(whole, got); diff != "" {
		t.Errorf("what is read is not what was written:\n%s", diff)
	}
	for _, err := range backup.Entries(bytes.NewReader(file)) {
		if err != nil {
			t.Error(err)
		}
		break // a reader that stops gets no more
	}
	if s, err := backup.Check(bytes.NewReader(written(t, fixed{}))); err != nil || s.Entries != 0 {
		t.Errorf("of an empty store: %+v, %v", s, err)
	}
}

// unpacked returns the lines of a backup, and packed makes a file of lines.
func unpacked(t *testing.T, file []byte) []string {
	t.Helper()
	r, err := zstd.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(string(text), "\n")
}

func packed(t *testing.T, lines ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, strings.Join(lines, "")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A file that is cut anywhere, or has any one byte changed, is refused.
func TestDamaged(t *testing.T) {
	file := written(t, fixed{entries: whole})
	for n := range file {
		if _, err := backup.Check(bytes.NewReader(file[:n])); err == nil {
			t.Errorf("cut after %d of %d bytes: no error", n, len(file))
		}
		other := bytes.Clone(file)
		other[n] ^= 0x20
		if s, err := backup.Check(bytes.NewReader(other)); err == nil {
			// A changed header flag without effect is no damage.
			if diff := cmp.Diff(unpacked(t, file), unpacked(t, other)); diff != "" || s.Entries != len(whole) {
				t.Errorf("byte %d changed: no error", n)
			}
		}
	}
}

// Each fault is reported with its position and what was expected there.
func TestFaults(t *testing.T) {
	lines := unpacked(t, written(t, fixed{entries: whole}))
	head, entries, end := lines[0], lines[1:len(whole)+1], lines[len(whole)+1]
	with := func(lines ...string) []byte { return packed(t, lines...) }
	swap := func(from, to string) []byte {
		return with(strings.Replace(strings.Join(lines, ""), from, to, 1))
	}
	for name, tt := range map[string]struct {
		file []byte
		says string
	}{
		"empty":                {nil, "first line: the file ends here, expected more"},
		"text":                 {[]byte("# a configuration\nlisten: 1\n"), "first line: expected a backup of planbridge: this is another kind of file"},
		"another zstd":         {with("a line\nanother\n"), "first line: expected a backup of planbridge"},
		"another JSON":         {with("{}\n"), "first line: expected a backup of planbridge"},
		"a newer format":       {swap(`"format":1`, `"format":2`), "first line: format 2, expected at most 1: a newer program wrote this backup"},
		"a newer schema":       {swap(`"schema":1`, `"schema":9`), "first line: schema 9, expected at most 1: a newer program wrote this backup"},
		"no format":            {swap(`"format":1`, `"format":0`), "first line: format 0 and schema 1, expected both from 1"},
		"no end":               {with(lines[:len(whole)+1]...), "entry 8: the file ends here, expected more: it was cut off"},
		"within an entry":      {with(head, entries[0], entries[1][:9]), "entry 2: the file ends here"},
		"no JSON":              {with(head, entries[0], "{]\n"), "entry 2: expected an entry: invalid character ']'"},
		"an empty entry":       {with(head, "{}\n", end), "entry 1: it has 0 parts, expected one of document, marks,"},
		"two in one":           {swap(`{"document":`, `{"spoilt":"x","document":`), "entry 1: it has 2 parts"},
		"a document's name":    {swap(`"watermark"`, `""`), "entry 1: expected a document's name"},
		"no set":               {swap(`"set":"cards"`, `"set":""`), "entry 2: expected the name of a set of marks"},
		"a delivery's key":     {swap(`"key":"AP8ga2V5"`, `"key":""`), "entry 3: expected a delivery's key"},
		"a foreign link":       {swap(`"id":"l1","project":"p"`, `"id":"l1","project":"q"`), "entry 4: link q/l1 is not the claimed p/l1"},
		"a link without id":    {swap(`"id":"l1"`, `"id":""`), "entry 4: expected a record with a link of a project"},
		"no such place":        {swap(`"place":"queued"`, `"place":"bed"`), `entry 4: link p/l1 is "bed", expected one of`},
		"a foreign conflict":   {swap(`"id":"c"`, `"id":""`), `entry 7: conflict "" of project "p", expected one of project "p"`},
		"an entry is missing":  {with(append(append([]string{head}, entries[1:]...), end)...), "the file is damaged"},
		"an entry is another":  {swap(`"data":"dGV4dAD/"`, `"data":"dGV4dAA="`), "expected "},
		"more behind the end":  {with(append(lines, "{}\n")...), "expected the end of the file behind entry 7"},
		"two files in one":     {append(bytes.Clone(with(lines...)), with(lines...)...), "expected the end of the file behind entry 7"},
		"given up in between":  {written(t, fixed{entries: whole[:2], fails: errors.New("redis is away")}), "the backup was given up at entry 3: redis is away"},
		"the counts are wrong": {swap(`"links":2`, `"links":3`), "the file is damaged"},
	} {
		_, err := backup.Check(bytes.NewReader(tt.file))
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, expected %q", name, err, tt.says)
		}
		var last error
		for _, err := range backup.Entries(bytes.NewReader(tt.file)) {
			last = err
		}
		if fmt.Sprint(last) != fmt.Sprint(err) {
			t.Errorf("%s: Entries ends with %v, Check with %v", name, last, err)
		}
	}
	if _, err := backup.Check(bytes.NewReader(swap(`"format":1`, `"format":2`))); !errors.Is(err, backup.ErrFormat) {
		t.Errorf("a newer format is %v", err)
	}
}
