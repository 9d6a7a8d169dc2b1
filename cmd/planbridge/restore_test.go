package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/planningtest"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/redisstore"
	"planbridge/store/redisstore/redistest"
)

// at is a place for a store, by kind.
func at(t *testing.T, kind string) string {
	if kind == "redis" {
		return redistest.Start(t).URL
	}
	return "file:" + filepath.Join(t.TempDir(), "planbridge.db")
}

// TestRestoredWorld: a backup is made while people write, and the process is killed later. A
// restored store, a fresh one of either kind, meets a world that went on: no word is lost and
// nothing is made twice.
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

// TestADamagedFileIsNamed: each command that opens a damaged file says in one line which file that
// is and what to do. restore --force does it.
func TestADamagedFileIsNamed(t *testing.T) {
	op := older(t, bridgetest.Options{}, "one", "two")
	op.fine("import")
	file := filepath.Join(t.TempDir(), "backup")
	op.fine("backup", file)
	db := filepath.Join(filepath.Dir(op.config), "planbridge.db")
	if err := os.Truncate(db, 20_000); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve"}, {"links"}, {"check", "-q"}, {"backup", file + "2"}, {"restore", file}, {"copy-store", "file:" + db, "file:" + db + "2"}} {
		r := op.run(args...)
		text := r.out + r.stderr
		if r.status != exitFailure || strings.Count(text, "the file is damaged (it has 20000 bytes, ") != 1 || !strings.Contains(text, db) ||
			!strings.Contains(text, "restore FILE --force, or move it away and run planbridge rebuild") || args[0] != "check" && strings.Count(text, "\n") != 1 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	op.fine("restore", "--force", file)
	if text := op.fine("links"); !strings.Contains(text, "acme/web#2") {
		t.Errorf("links after the restore: %s", text)
	}
	op.fine("verify")
}

// TestRestoreIntoRedis: a restore is refused while a service polls. One that ended early leaves a
// store that no program serves until another one has ended.
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
