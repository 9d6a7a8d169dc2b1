package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"
	"github.com/redis/go-redis/v9"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/backup"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// scribes write words on both sides, each of which has to be somewhere in the end.
type scribes struct {
	op    *operator
	mu    sync.Mutex
	words map[string][]string // by what they were written on, which its title names
}

func (s *scribes) note(thing string, side string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	word := fmt.Sprintf("%s-%s-%d.", strings.ReplaceAll(thing, " ", "-"), side, len(s.words[thing]))
	s.words[thing] = append(s.words[thing], word)
	return word
}

// issue opens an issue, and card makes a card, with a first word each.
func (s *scribes) issue(thing string) {
	s.op.world.Repo.Open("octocat", githubtest.IssueSpec{Title: thing, Body: s.note(thing, "g")})
}

func (s *scribes) card(thing string) {
	s.op.world.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: thing, Summary: s.note(thing, "p")})
}

// write adds a word to each thing that is on a side: below on GitHub, above in planning.
func (s *scribes) write() {
	for _, i := range s.op.world.Repo.Issues() {
		word := s.note(i.Title, "g")
		s.op.world.Repo.Edit(i.Number, "octocat", func(e *githubtest.IssueEdit) { e.Body = below(e.Body, word) })
	}
	for _, c := range s.op.world.Project.Cards() {
		word := s.note(c.Title, "p")
		s.op.world.Project.EditCard(c.ID, "alice", func(e *planningtest.CardEdit) { e.Summary = word + "\n\n" + e.Summary })
	}
}

// below puts a word behind a text, and before the marker of an issue.
func below(body, word string) string {
	text, marker, marked := strings.Cut(body, "<!--")
	if text = strings.TrimRight(text, "\n") + "\n\n" + word; marked {
		text += "\n\n<!--" + marker
	}
	return text
}

// on writes until the function it returns is called.
func (s *scribes) on() (stop func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond): // people are not faster
				s.write()
			}
		}
	}()
	return func() { close(over); <-ended }
}

// missing says what is not as it has to be: each thing is one issue and one card, and
// each word is on both, or is kept in a comment.
func (s *scribes) missing() (faults []string) {
	issues, cards := s.op.world.Repo.Issues(), s.op.world.Project.Cards()
	s.mu.Lock()
	defer s.mu.Unlock()
	for thing, words := range s.words {
		is := slices.DeleteFunc(slices.Clone(issues), func(i githubtest.IssueState) bool { return i.Title != thing })
		cs := slices.DeleteFunc(slices.Clone(cards), func(c planningtest.CardState) bool { return c.Title != thing })
		if len(is) != 1 || len(cs) != 1 || len(cs[0].Tasks) != 1 {
			faults = append(faults, fmt.Sprintf("%s: %d issues, %d cards %+v", thing, len(is), len(cs), cs))
			continue
		}
		comments := ""
		for _, c := range is[0].Comments {
			comments += c.Body
		}
		for _, word := range words {
			if both := strings.Contains(is[0].Body, word) && strings.Contains(cs[0].Summary, word); !both && !strings.Contains(comments, word) {
				faults = append(faults, fmt.Sprintf("%s: no %s in %q and %q and %q", thing, word, is[0].Body, cs[0].Summary, comments))
			}
		}
	}
	if len(issues) != len(s.words) || len(cards) != len(s.words) {
		faults = append(faults, fmt.Sprintf("%d issues and %d cards of %d things", len(issues), len(cards), len(s.words)))
	}
	return faults
}

// doubts is beyond the time for which reads of an issue that may lag are not believed,
// several times over.
const doubts = 4 * patience

// whole waits until nothing is missing, and says what is.
func (s *scribes) whole(when string) {
	s.op.t.Helper()
	ctx, cancel := context.WithTimeout(s.op.t.Context(), doubts)
	defer cancel()
	if s.op.world.Until(ctx, func() bool { return len(s.missing()) == 0 }) != nil {
		s.op.t.Fatalf("%s:\n%s", when, strings.Join(s.missing(), "\n"))
	}
}

// at is a place for a store, by kind.
func at(t *testing.T, kind string) string {
	if kind == "redis" {
		return redistest.Start(t).URL
	}
	return "file:" + filepath.Join(t.TempDir(), "planbridge.db")
}

// TestRestoredWorld: a backup is made while people write, and the process is killed later.
// What is restored, into a fresh store of either kind, meets a world that went on: no word
// is lost and nothing is made twice.
func TestRestoredWorld(t *testing.T) {
	for _, tt := range []struct{ from, to string }{{"file", "file"}, {"file", "redis"}, {"redis", "file"}, {"redis", "redis"}} {
		t.Run(tt.from+" to "+tt.to, func(t *testing.T) {
			t.Parallel()
			from, to := at(t, tt.from), at(t, tt.to)
			listens, admins := freePort(t), freePort(t)
			listen := func(url string) func(string) string {
				return func(text string) string {
					return replace(from, url)(public(listens)(admin(admins)(text)))
				}
			}
			op := newOperator(t, bridgetest.Options{Store: from}, listen(from))
			op.world.GitHub.AddHook(bridgetest.RepoName, "http://"+listens+"/webhooks/github", bridgetest.WebhookSecret)
			people := &scribes{op: op, words: map[string][]string{}}
			s := op.serve()
			op.until("it polls", func() bool { return op.world.Planning.Calls(planningtest.OpBacklogItems) > 3 })
			people.issue("one")
			people.card("two")
			people.whole("before the backup")

			stop := people.on()
			people.issue("under way")
			file := filepath.Join(t.TempDir(), "backup")
			op.fine("backup", file)
			people.issue("three")
			people.card("four")
			stop()
			people.whole("after the backup")
			people.issue("just made")
			s.signal(os.Kill)
			s.ended()
			people.write()
			people.issue("five")
			people.card("six")

			op.write(listen(to))
			if text := op.fine("restore", file); !strings.HasPrefix(text, "the "+tt.to+" store holds the backup (of a "+tt.from+" store by planbridge v0.0.0-test, 20") {
				t.Errorf("restore: %q", text)
			}
			op.serve()
			people.whole("after the restore")
			people.write()
			people.whole("in the end")
		})
	}
}

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
	if text := op.fine("backup", file); !strings.HasPrefix(text, "the file store is backed up to "+file+": 1 links, 0 conflicts, ") {
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
	if s, err := backup.Check(strings.NewReader(r.out)); err != nil || s.Links != 1 || r.status != exitOK || !strings.HasPrefix(r.stderr, "the file store is backed up to -: 1 links") {
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

// TestRestoreRefuses: a file that is not whole, a store that holds anything or that
// somebody uses, are refused before anything is written.
func TestRestoreRefuses(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one", "two")
	op.fine("import")
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	op.fine("backup", file)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(filepath.Dir(op.config), "planbridge.db")
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, tt := range map[string]struct {
		data []byte
		says string
	}{
		"empty":   {nil, "first line: the file ends here, expected more: it was cut off"},
		"cut":     {whole[:len(whole)/2], "it was cut off"},
		"flipped": {flipped, "damaged"},
		"foreign": {[]byte(op.world.YAML()), "first line: expected a backup of planbridge: this is another kind of file"},
	} {
		bad := filepath.Join(dir, name)
		if err := os.WriteFile(bad, tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, flags := range [][]string{nil, {"--force"}, {"--dry-run"}} {
			r := op.run(append([]string{"restore", bad}, flags...)...)
			if r.status != exitFailure || !strings.HasPrefix(r.stderr, "planbridge: restore "+bad+": ") || !strings.Contains(r.stderr, tt.says) {
				t.Errorf("%s %v: %+v", name, flags, r)
			}
		}
	}
	if r := op.run("restore", filepath.Join(dir, "none")); r.status != exitFailure || !strings.Contains(r.stderr, "no such file") {
		t.Errorf("no file: %+v", r)
	}
	if text := op.fine("restore", "--dry-run", file); !strings.HasPrefix(text, "the backup is whole: 2 links, ") {
		t.Errorf("restore --dry-run: %q", text)
	}
	if _, err := os.Stat(db); !os.IsNotExist(err) {
		t.Errorf("a store was made: %v", err)
	}

	op.fine("restore", file)
	if r := op.run("restore", file); r.status != exitFailure || !strings.Contains(r.stderr, "the store is not empty: --force replaces what it holds") {
		t.Errorf("over a store that holds something: %+v", r)
	}
	var got restored
	if text := op.fine("restore", "--force", file, "-o", "json"); json.Unmarshal([]byte(text), &got) != nil || got.To != "file" || got.Links != 2 {
		t.Errorf("restore --force: %s", text)
	}
	op.write(admin(freePort(t)))
	op.serve()
	if r := op.run("restore", "--force", file); r.status != exitFailure || !strings.Contains(r.stderr, "a service runs on 127.0.0.1:") {
		t.Errorf("while a service runs: %+v", r)
	}
	op.write(admin(freePort(t)))
	if r := op.run("restore", "--force", file); r.status != exitFailure || !strings.Contains(r.stderr, "another process uses it") {
		t.Errorf("while a service elsewhere uses the store: %+v", r)
	}
}

// TestRestoreIntoRedis: it is refused while a service polls, and one that ended within
// leaves a store that no program serves until another one has come to its end.
func TestRestoreIntoRedis(t *testing.T) {
	server := redistest.Start(t)
	op := older(t, bridgetest.Options{Store: server.URL}, "one", "two")
	op.fine("import")
	file := filepath.Join(t.TempDir(), "backup")
	op.fine("backup", file)
	s := op.serve()
	op.until("it polls", func() bool {
		r := op.run("restore", "--force", file)
		return r.status == exitFailure && strings.Contains(r.stderr, "another process uses it") && strings.Contains(r.stderr, "has the lease poll:")
	})
	s.signal(os.Interrupt)
	s.ended()

	db, err := redisstore.Open(t.Context(), redisstore.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	torn := fmt.Errorf("the process ended here")
	if err := db.Load(t.Context(), func(yield func(store.Entry, error) bool) {
		_ = yield(store.Entry{Document: &store.Document{Name: "half"}}, nil) && yield(store.Entry{}, torn)
	}, true); err == nil {
		t.Fatal("a load that ends within has no error")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve"}, {"links"}, {"backup", "-"}, {"import"}} {
		if r := op.run(args...); r.status != exitFailure || !strings.Contains(r.stderr, "a restore was begun and not finished: run planbridge restore once more") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	op.fine("restore", file)
	if text := op.fine("links"); strings.Count(text, "acme/web#") != 2 {
		t.Errorf("links:\n%s", text)
	}
	if cards := op.world.Project.Cards(); len(cards) != 2 {
		t.Errorf("%d cards", len(cards))
	}
}

// spoilLink makes one of a project's links unreadable.
func spoilLink(t *testing.T, server *redistest.Server, project mapping.ObjectID) {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer c.Close()
	keys, err := c.Keys(t.Context(), fmt.Sprintf("planbridge:{%s}:l:*", project)).Result()
	if err != nil || len(keys) == 0 {
		t.Fatalf("%v, %v", keys, err)
	}
	if err := c.HSet(t.Context(), keys[0], "r", "0no JSON").Err(); err != nil {
		t.Fatal(err)
	}
}

// What of a store cannot be read is told, and the rest is in the backup and in exports.
func TestBackupOfSpoilt(t *testing.T) {
	server := redistest.Start(t)
	op := older(t, bridgetest.Options{Store: server.URL}, "one", "two")
	op.fine("import")
	project := mapping.ObjectID(op.world.Project.ID())
	spoilLink(t, server, project)
	file := filepath.Join(t.TempDir(), "backup")
	r := op.run("backup", file)
	if r.status != exitFailure || !strings.Contains(r.out, ": 1 links") || !strings.Contains(r.stderr, "planbridge: not in the backup: link "+string(project)+"/") {
		t.Errorf("backup: %+v", r)
	}
	if r := op.run("export", "links"); r.status != exitFailure || strings.Count(r.out, ",root,") != 1 || !strings.Contains(r.stderr, "the export is not complete: ") || !strings.Contains(r.stderr, "link "+string(project)+"/") {
		t.Errorf("export: %+v", r)
	}
	if text := op.fine("restore", "--dry-run", file); !strings.HasPrefix(text, "the backup is whole: 1 links") {
		t.Errorf("restore --dry-run: %q", text)
	}
}
