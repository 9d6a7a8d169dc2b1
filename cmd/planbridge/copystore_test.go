package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/clock"
	"planbridge/bridge/epoch"
	"planbridge/bridge/githubtest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
	"planbridge/store/redisstore"
)

// exports are all that a store holds, as export prints it. The kinds of stores list links in different orders: the rows are sorted.
func exports(op *operator) string {
	op.t.Helper()
	rows := slices.Collect(strings.Lines(op.fine("export", "links") + op.fine("export", "history") + op.fine("export", "conflicts")))
	slices.Sort(rows)
	return strings.Join(rows, "")
}

// TestCopyStore: from a file to Redis and to a file again nothing changes. No service uses the
// copied stores any more, and the last one goes on.
func TestCopyStore(t *testing.T) {
	op := lived(t)
	w := op.world
	if r := op.run("copy-store", "file:planbridge.db", at(t, "file")); r.status != exitFailure || !strings.Contains(r.stderr, "a service runs on") {
		t.Errorf("beside a service: %+v", r)
	}
	if err := w.StopBridge(); err != nil {
		t.Fatal(err)
	}
	first := "file:" + filepath.Join(filepath.Dir(op.config), "planbridge.db")
	_, own, _ := strings.Cut(w.YAML(), "store:\n  url: ")
	own, _, _ = strings.Cut(own, "\n")
	urls := []string{first, at(t, "redis"), at(t, "file")}
	wants, dir := exports(op), t.TempDir()
	op.fine("backup", filepath.Join(dir, "before"))
	for i, to := range urls[1:] {
		op.env["FROM"] = urls[i]
		text := op.fine("copy-store", "env:FROM", to)
		if !strings.Contains(text, ": 2 links, 1 conflict, ") || !strings.Contains(text, "no service works on "+urls[i]+" any more") {
			t.Errorf("copy-store: %q", text)
		}
		op.write(replace(own, urls[i]))
		if r := op.run("import", "--dry-run"); r.status != exitFailure || !strings.Contains(r.stderr, "this store was copied, and its copy is in use: "+to+", since 20") {
			t.Errorf("a service on the old store: %+v", r)
		}
		if r := op.run("copy-store", urls[i], at(t, "file")); r.status != exitFailure || !strings.Contains(r.stderr, "this store was copied, and its copy is in use: "+to) {
			t.Errorf("a second copy of the old store: %+v", r)
		}
		if r := op.run("pause", "acme/web"); r.status != exitFailure || !strings.Contains(r.stderr, "this store was copied, and its copy is in use: "+to) || r.out != "" {
			t.Errorf("a change of the old store: %+v", r)
		}
		if r := op.run("check", "-q"); r.status != exitFailure || !strings.Contains(r.out, "this store was copied, and its copy is in use: "+to) {
			t.Errorf("a check of the old store: %+v", r)
		}
		if i == 0 { // a service that only reads has the file
			op.write(func(yaml string) string { return admin(freePort(t))(replace(own, urls[i])(yaml)) })
			s := op.serve()
			op.until("the service has looked at its store", func() bool { return strings.Contains(op.run("health", "--ready").stderr, to) })
			if r := op.run("check", "-q"); r.status != exitFailure || !strings.Contains(r.out, "this store was copied, and its copy is in use: "+to) {
				t.Errorf("a check beside a service on the old store: %+v", r)
			}
			s.signal(os.Interrupt)
			s.ended()
			if !slices.ContainsFunc(s.log, func(line map[string]any) bool {
				msg, _ := line["msg"].(string)
				return line["level"] == "ERROR" && strings.Contains(msg, "store.url names a store that was copied; name its copy there, or use this one again by planbridge restore --force")
			}) {
				t.Errorf("the service on the old store says what to do in none of %v", s.log)
			}
			op.write(replace(own, urls[i]))
		}
		if r := op.run("backup", filepath.Join(dir, fmt.Sprint("old", i))); r.status != exitOK {
			t.Errorf("a backup of the old store: %+v", r)
		}
		op.write(replace(own, to))
		if got := exports(op); got != wants {
			t.Errorf("%s exports\n%s\nexpected\n%s", to, got, wants)
		}
		if r := op.run("copy-store", to, urls[0]); r.status != exitFailure || !strings.Contains(r.stderr, "the store is not empty") {
			t.Errorf("over what is there: %+v", r)
		}
	}
	op.fine("backup", filepath.Join(dir, "after"))
	docs, records, conflicts, marks, deliveries := entriesOf(t, filepath.Join(dir, "before"))
	docs3, records3, conflicts3, marks3, deliveries3 := entriesOf(t, filepath.Join(dir, "after"))
	for name := range docs3 {
		if strings.HasSuffix(name, " moved") { // of the stores before
			delete(docs3, name)
		}
	}
	want, got := []any{docs, records, conflicts, marks, deliveries}, []any{docs3, records3, conflicts3, marks3, deliveries3}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateApproxTime(1e6)); diff != "" {
		t.Errorf("after two copies:\n%s", diff)
	}
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Paint the door" })
	op.fine("verify", "--repair")
	if c := w.Project.Cards(); len(c) != 1 || c[0].Title != "Paint the door" {
		t.Errorf("on the copy: %+v", c)
	}
}

// TestCopyStoreRefuses: an impossible copy is refused, and nothing is written.
func TestCopyStoreRefuses(t *testing.T) {
	op := newOperator(t, bridgetest.Options{}, nil)
	dir := t.TempDir()
	to := "file:" + filepath.Join(dir, "to.db")
	own := filepath.Join(filepath.Dir(op.config), "planbridge.db")
	beside := filepath.Join(t.TempDir(), "beside.db")
	if err := errors.Join(os.WriteFile(own, nil, 0o600), os.Symlink(own, beside)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from, to string
		status   int
		says     string
	}{
		{"file:" + filepath.Join(dir, "none.db"), to, exitFailure, "none.db: no such file"},
		{"postgres://a/b", to, exitUsage, "expected file:PATH, redis://HOST"},
		{to, to, exitUsage, "both are the same store"},
		{"file:" + own, "file:" + filepath.Dir(own) + "/./planbridge.db", exitUsage, "both are the same store"},
		{"file:" + own, "file:" + beside, exitUsage, "both are the same store"},
		{"env:NONE", to, exitUsage, "environment variable NONE is not set"},
	} {
		if r := op.run("copy-store", tt.from, tt.to); r.status != tt.status || !strings.Contains(r.stderr, tt.says) {
			t.Errorf("copy-store %s %s: %+v", tt.from, tt.to, r)
		}
	}
	used := at(t, "redis")
	plain := strings.TrimSuffix(used, "/0")
	for url, status := range map[string]int{plain + "/0": exitUsage, strings.Replace(used, "127.0.0.1", "localhost", 1): exitUsage, plain + "?protocol=3": exitUsage, plain + "/1": exitOK} {
		if r := op.run("copy-store", used, url); r.status != status || status == exitUsage && !strings.Contains(r.stderr, "both are the same store") {
			t.Errorf("copy-store %s %s: %+v", used, url, r)
		}
	}
	used = at(t, "redis")
	other, err := redisstore.Open(t.Context(), redisstore.Options{URL: used})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if held, err := other.Acquire(t.Context(), "poll", "replica-2", patience); err != nil || !held {
		t.Fatal(held, err)
	}
	if r := op.run("copy-store", used, to); r.status != exitFailure || !strings.Contains(r.stderr, "another process uses it: replica-2 has the lease poll until 20") {
		t.Errorf("from a store that is used: %+v", r)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("refused copies leave %v, %v", left, err)
	}
}

// TestCopyStoreLeavesNoFile: a copy by way of a file has no name that outlives a kill.
func TestCopyStoreLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	f, err := unnamedFile()
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("a copy that is killed leaves %v, %v", left, err)
	}
	if _, err := f.WriteString("text"); err != nil {
		t.Error(err)
	}
	text := make([]byte, 4)
	if _, err := f.ReadAt(text, 0); err != nil || string(text) != "text" {
		t.Errorf("read %q, %v", text, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// ending is a store at the end of its copy.
type ending struct {
	store.Store
	used, fails error
}

func (e *ending) Unused(context.Context) error { return e.used }

func (e *ending) PutDoc(ctx context.Context, project mapping.ObjectID, name string, data []byte) error {
	if err := errors.Join(ctx.Err(), e.fails); err != nil {
		return err
	}
	return e.Store.PutDoc(ctx, project, name, data)
}

// TestRetire: an interrupt at the end of a copy leaves no two stores that are served. Where
// one is used by then, or cannot be marked, the command says what to do.
func TestRetire(t *testing.T) {
	for name, tt := range map[string]struct {
		ending
		says string // "": it is marked
	}{
		"interrupted": {},
		"used again":  {ending{used: fmt.Errorf("%w: replica-2 polls", store.ErrInUse)}, "replica-2 polls"},
		"away":        {ending{fails: errors.New("connection refused")}, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.Store = memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
			ctx, interrupt := context.WithCancel(t.Context())
			interrupt()
			err := retire(ctx, &tt.ending, "A", "B")
			if got := errors.Is(epoch.Check(t.Context(), tt.Store), epoch.ErrRetired); got != (tt.says == "") {
				t.Errorf("the old store is marked: %t", got)
			}
			want := "B holds a complete copy, but A could not be marked: serve from one of them only; empty B to copy again: "
			if says := fmt.Sprint(err); (err == nil) != (tt.says == "") || err != nil && (!strings.HasPrefix(says, want) || !strings.HasSuffix(says, tt.says)) {
				t.Errorf("retire: %v", err)
			}
		})
	}
}
