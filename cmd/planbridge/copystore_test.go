package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/store/redisstore"
)

// exports are all that a store holds, as export prints it. The kinds of stores list links in different orders: the rows are sorted.
func exports(op *operator) string {
	op.t.Helper()
	rows := slices.Collect(strings.Lines(op.fine("export", "links") + op.fine("export", "history") + op.fine("export", "conflicts")))
	slices.Sort(rows)
	return strings.Join(rows, "")
}

// TestCopyStore: from a file to Redis and to a file again nothing changes; the stores that
// were copied are used by no service any more, and the last one goes on.
func TestCopyStore(t *testing.T) {
	op := lived(t)
	w := op.world
	if r := op.run("copy-store", "file:planbridge.db", at(t, "file")); r.status != exitWrong || !strings.Contains(r.stderr, "a service runs on") {
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
		if !strings.Contains(text, ": 2 links, 1 conflicts, ") || !strings.Contains(text, "no service works on "+urls[i]+" any more") {
			t.Errorf("copy-store: %q", text)
		}
		op.write(replace(own, urls[i]))
		if r := op.run("import", "--dry-run"); r.status != exitWrong || !strings.Contains(r.stderr, "this store was copied, and its copy is in use: "+to+", since 20") {
			t.Errorf("a service on the old store: %+v", r)
		}
		op.write(replace(own, to))
		if got := exports(op); got != wants {
			t.Errorf("%s exports\n%s\nexpected\n%s", to, got, wants)
		}
		if r := op.run("copy-store", urls[0], to); r.status != exitWrong || !strings.Contains(r.stderr, "the store is not empty") {
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

// TestCopyStoreRefuses: what cannot be copied is refused, and nothing is written.
func TestCopyStoreRefuses(t *testing.T) {
	op := newOperator(t, bridgetest.Options{}, nil)
	dir := t.TempDir()
	to := "file:" + filepath.Join(dir, "to.db")
	for _, tt := range []struct {
		from, to string
		status   int
		says     string
	}{
		{"file:" + filepath.Join(dir, "none.db"), to, exitWrong, "none.db: no such file"},
		{"postgres://a/b", to, exitMisuse, "expected file:PATH, redis://HOST"},
		{to, to, exitMisuse, "both are the same store"},
		{"env:NONE", to, exitMisuse, "expected file:PATH"},
	} {
		if r := op.run("copy-store", tt.from, tt.to); r.status != tt.status || !strings.Contains(r.stderr, tt.says) {
			t.Errorf("copy-store %s %s: %+v", tt.from, tt.to, r)
		}
	}
	used := at(t, "redis")
	other, err := redisstore.Open(t.Context(), redisstore.Options{URL: used})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if held, err := other.Acquire(t.Context(), "poll", "replica-2", patience); err != nil || !held {
		t.Fatal(held, err)
	}
	if r := op.run("copy-store", used, to); r.status != exitWrong || !strings.Contains(r.stderr, "another process uses it: replica-2 has the lease poll until 20") {
		t.Errorf("from a store that is used: %+v", r)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("refused copies leave %v, %v", left, err)
	}
}
