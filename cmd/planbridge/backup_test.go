package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/backup"
	"planbridge/store/redisstore/redistest"
)

// entriesOf are what a backup holds, in an order of their own, by its file.
func entriesOf(t *testing.T, file string) (docs, records, conflicts map[string]store.Entry, marks map[string]string, deliveries []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	docs, records, conflicts, marks = map[string]store.Entry{}, map[string]store.Entry{}, map[string]store.Entry{}, map[string]string{}
	for e, err := range backup.Entries(f) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Document != nil:
			docs[string(e.Project)+" "+e.Document.Name] = e
		case e.Record != nil:
			records[string(e.Project)+" "+string(e.Record.Link.ID)] = e
		case e.Conflict != nil:
			conflicts[string(e.Project)+" "+e.Conflict.ID] = e
		case e.Marks != nil:
			for id, mark := range e.Marks.Marks {
				marks[string(e.Project)+" "+e.Marks.Set+" "+id] = mark
			}
		}
		for _, d := range e.Deliveries {
			deliveries = append(deliveries, fmt.Sprintf("%s %x %s", e.Project, d.Key, d.At.Truncate(time.Millisecond)))
		}
	}
	slices.Sort(deliveries)
	return docs, records, conflicts, marks, deliveries
}

// TestBackupGoesRound: from a file to Redis and back nothing changes.
func TestBackupGoesRound(t *testing.T) {
	op := newOperator(t, bridgetest.Options{Route: "conflicts: {title: planning}"}, nil)
	w := op.world
	w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "old: it is marked as seen"})
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	op.until("it polls", func() bool { return w.Planning.Calls(planningtest.OpBacklogItems) > 3 })
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "one", Body: "Text ☃ \x1f."})
	w.Repo.Open("octocat", githubtest.IssueSpec{Title: "two"})
	op.until("its cards", func() bool {
		tasks := 0
		for _, c := range w.Project.Cards() {
			tasks += len(c.Tasks)
		}
		return tasks == 2
	})
	cards := w.Project.Cards()
	one := cards[slices.IndexFunc(cards, func(c planningtest.CardState) bool { return c.Title == "one" })].ID
	goOn := w.Hold()
	w.Repo.Edit(1, "octocat", func(e *githubtest.IssueEdit) { e.Title = "GitHub's" })
	w.Project.EditCard(one, "alice", func(e *planningtest.CardEdit) { e.Title = "planning's" })
	goOn()
	op.until("the conflict is settled", func() bool {
		return strings.HasPrefix(w.Repo.Issue(1).Title, "planning's") && len(w.Repo.Issue(1).Comments) == 1
	})
	if err := w.StopBridge(); err != nil {
		t.Fatal(err)
	}
	_, own, _ := strings.Cut(w.YAML(), "store:\n  url: ")
	own, _, _ = strings.Cut(own, "\n")
	dir := t.TempDir()
	first, second, third := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "3")
	op.fine("backup", first)
	for _, step := range [][3]string{{at(t, "redis"), first, second}, {at(t, "file"), second, third}} {
		op.write(replace(own, fmt.Sprintf("%q", step[0])))
		op.fine("restore", step[1])
		op.fine("backup", step[2])
	}
	docs, records, conflicts, marks, deliveries := entriesOf(t, first)
	docs3, records3, conflicts3, marks3, deliveries3 := entriesOf(t, third)
	if len(docs) == 0 || len(records) != 2 || len(conflicts) != 1 || len(marks) == 0 || len(deliveries) == 0 {
		t.Errorf("the first backup holds %d documents, %d links, %d conflicts, %d marks, %d deliveries", len(docs), len(records), len(conflicts), len(marks), len(deliveries))
	}
	want, got := []any{docs, records, conflicts, marks, deliveries}, []any{docs3, records3, conflicts3, marks3, deliveries3}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateApproxTime(time.Millisecond)); diff != "" {
		t.Errorf("after two moves:\n%s", diff)
	}
}

// TestBackupFile: it is for its owner alone, holds none of the configuration's secrets,
// replaces nothing unasked, and leaves nothing behind where it fails.
func TestBackupFile(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one")
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	if r := op.run("backup", file); r.status != exitFailure || !strings.Contains(r.stderr, "backup to "+file+": no service answers on") {
		t.Errorf("without a store: %+v", r)
	}
	op.fine("import")
	if text := op.fine("backup", file); !strings.HasPrefix(text, "the file store is backed up to "+file+": 1 link, 0 conflicts, ") {
		t.Errorf("backup: %q", text)
	}
	is, err := os.Stat(file)
	if err != nil || is.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", is.Mode(), err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, dir} {
		if r := op.run("backup", name); r.status != exitUsage || !strings.Contains(r.stderr, "backup to "+name+": ") || !strings.Contains(r.stderr, "file") {
			t.Errorf("over what is there: %+v", r)
		}
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(before, now) {
		t.Errorf("a refused backup changed the file: %v", err)
	}
	var said backedUp
	if text := op.fine("backup", "--force", file, "-o", "json"); json.Unmarshal([]byte(text), &said) != nil || said.File != file || said.Links != 1 || said.Store != "file" || said.Program == "" || len(said.SHA256) != 64 {
		t.Errorf("backup -o json: %s", text)
	}
	if r := op.run("backup", filepath.Join(dir, "no", "where")); r.status != exitFailure || !strings.Contains(r.stderr, "no such file or directory") {
		t.Errorf("into no directory: %+v", r)
	}
	r := op.run("backup", "-")
	if s, err := backup.Check(strings.NewReader(r.out)); err != nil || s.Links != 1 || r.status != exitOK || !strings.HasPrefix(r.stderr, "the file store is backed up to -: 1 link") {
		t.Errorf("to standard output: status %d %q: %+v, %v", r.status, r.stderr, s, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("beside the backup: %v, %v", left, err)
	}
	noSecrets(t, op, file)
}

func noSecrets(t *testing.T, op *operator, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	for name, secret := range op.env {
		if strings.Contains(text.String(), secret) {
			t.Errorf("the backup holds %s", name)
		}
	}
}

// A service that is a dry run has no store that anybody would restore.
func TestBackupOfDryRun(t *testing.T) {
	op := newOperator(t, bridgetest.Options{}, admin(freePort(t)))
	op.serve("--dry-run")
	file := filepath.Join(t.TempDir(), "backup")
	op.until("it is ready", func() bool { return op.run("health", "--ready").status == exitOK })
	if r := op.run("backup", file); r.status != exitFailure || !strings.Contains(r.stderr, "the service that runs is a dry run") {
		t.Errorf("backup: %+v", r)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file: %v", err)
	}
}

// Unreadable parts of a store are reported, and the rest is in the backup and in exports.
func TestBackupOfSpoilt(t *testing.T) {
	server := redistest.Start(t)
	op := older(t, bridgetest.Options{Store: server.URL}, "one", "two")
	op.fine("import")
	project := mapping.ObjectID(op.world.Project.ID())
	spoilLink(t, server, project)
	file := filepath.Join(t.TempDir(), "backup")
	r := op.run("backup", file)
	if r.status != exitFailure || !strings.Contains(r.out, ": 1 link") || !strings.Contains(r.stderr, "planbridge: not in the backup: link "+string(project)+"/") {
		t.Errorf("backup: %+v", r)
	}
	if r := op.run("export", "links"); r.status != exitFailure || strings.Count(r.out, ",root,") != 1 || !strings.Contains(r.stderr, "the export is not complete: ") || !strings.Contains(r.stderr, "link "+string(project)+"/") {
		t.Errorf("export: %+v", r)
	}
	if text := op.fine("restore", "--dry-run", file); !strings.HasPrefix(text, "the backup is whole: 1 link") {
		t.Errorf("restore --dry-run: %q", text)
	}
}
