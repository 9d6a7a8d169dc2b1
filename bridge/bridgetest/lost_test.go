package bridgetest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/githubtest"
	"planbridge/bridge/planningtest"
	"planbridge/store/backup"
	"planbridge/store/boltstore"
	"planbridge/store/redisstore/redistest"
)

// soon is a lease that ends while a test waits. Leases of a dead bridge, or of a restored copy of
// the store, are free then.
const soon = 12 * time.Second

// TestRedisIsEmptied: a lost store is restored from the markers on both sides, while the service
// runs and people go on working. No item exists twice, and no text of a person is lost.
func TestRedisIsEmptied(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: r.URL})
	p.on(10)
	r.Flush()
	p.on(40)
	stop()
	p.whole()
}

// The last second of the append-only file is what appendfsync everysec may
// lose.
func TestRedisIsKilledAndForgetsItsLastSecond(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: r.URL})
	p.on(10)
	path, known := r.Kept()
	p.on(40)
	r.Kill()
	if err := os.Truncate(path, known); err != nil {
		t.Fatal(err)
	}
	p.on(10)
	r.Restart()
	p.on(10)
	stop()
	p.whole()
}

// TestRedisIsKilledWithinATransaction: a file that ends within a transaction is loaded without it,
// but keeps its beginning. The next start runs that beginning, so that some scripts have written in
// part.
func TestRedisIsKilledWithinATransaction(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: r.URL})
	for round := range 5 {
		p.on(20)
		r.Kill()
		cutWithinTransaction(t, r, round)
		r.Restart()
	}
	p.on(10)
	stop()
	p.whole()
}

// cutWithinTransaction ends the file in the last command but some of its last
// transaction that has so many.
func cutWithinTransaction(t *testing.T, r *redistest.Server, but int) {
	t.Helper()
	path, _ := r.Kept()
	data, err := os.ReadFile(path)
	must(t, err)
	for end := len(data); end > 0; {
		begin := bytes.LastIndex(data[:end], []byte("$5\r\nMULTI\r\n"))
		commands := regexp.MustCompile(`\r\n\*\d+\r\n`).FindAllIndex(data[max(begin, 0):end], -1)
		if n := len(commands) - 2 - but; begin > 0 && n > 0 {
			must(t, os.Truncate(path, int64(begin+commands[n][1])))
			return
		}
		end = begin
	}
	t.Fatal("the file has no such transaction")
}

func TestFileIsDeletedWhileOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "planbridge.db")
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: "file:" + path})
	p.on(10)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.on(40)
	stop()
	p.whole()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file of a store that goes on: %v", err)
	}
}

// A process that starts without its file does not know the items made while it was away. They look
// like items from before its first run. Both are found again.
func TestFileIsDeletedWhileStopped(t *testing.T) {
	t.Parallel()
	deletedWhileStopped(t, bridgetest.Options{LeaseTTL: soon})
}

func deletedWhileStopped(t *testing.T, o bridgetest.Options) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "planbridge.db")
	o.Store = "file:" + path
	p, stop := busyTeam(t, o)
	p.on(10)
	stop()
	p.whole()
	p.births = false
	stop = p.busy(everyAct)
	p.on(5)
	p.restart(func() error { return os.Remove(path) })
	p.on(20)
	stop()
	p.whole()
}

func TestFileIsAnOldCopy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "planbridge.db")
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: "file:" + path})
	p.on(10)
	var copied []byte
	p.restart(func() (err error) { copied, err = os.ReadFile(path); return err })
	p.on(60)
	p.restart(func() error { return os.WriteFile(path, copied, fs.FileMode(0o600)) })
	p.on(20)
	stop()
	p.whole()
}

// TestBackupIsRestored: a backup is made while people work, and restored after the world has gone
// on. It is restored into its own store, and later into that store again.
func TestBackupIsRestored(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "planbridge.db")
	p, stop := busyTeam(t, bridgetest.Options{LeaseTTL: soon, Store: "file:" + path})
	p.on(10)
	var file bytes.Buffer
	must(t, p.w.App.Operator().Backup(t.Context(), &file, "test"))
	restore := func() error {
		s, err := boltstore.Open(path, boltstore.Options{})
		if err != nil {
			return err
		}
		return errors.Join(s.Load(t.Context(), backup.Entries(bytes.NewReader(file.Bytes())), true), s.Close())
	}
	p.on(40)
	p.restart(restore)
	p.on(20)
	p.restart(restore)
	p.on(20)
	stop()
	p.whole()
}

// restart does something while the bridge is stopped.
func (p *team) restart(meanwhile func() error) {
	p.w.T.Helper()
	if err := p.w.StopBridge(); err != nil {
		p.w.T.Fatal(err)
	}
	if err := meanwhile(); err != nil {
		p.w.T.Fatal(err)
	}
	if err := p.w.StartBridge(); err != nil {
		p.w.T.Fatal(err)
	}
}

// TestConflictsWithoutBase: values that differ when their base is lost are a conflict that the
// route's policy decides. The loser is kept on the issue, once, however often the store is lost.
func TestConflictsWithoutBase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "planbridge.db")
	w := start(t, bridgetest.Options{Store: "file:" + path, Route: "conflicts: {title: github, summary: ask}"})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "Title", Body: "Text"})
	w.AwaitSettled()
	p := &team{w: w}
	lose := func() error { return os.Remove(path) }
	p.restart(func() error {
		w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title, e.Body = "GitHub's title", "GitHub's text" })
		w.Project.EditCard(card, "alice", func(e *planningtest.CardEdit) {
			_, mark := bridgetest.SplitMarker(e.Summary)
			e.Title, e.Summary = "Planning's title", "Planning's text"+mark
		})
		return lose()
	})
	asked := func() bool { return slices.Contains(w.Repo.Issue(n).Labels, "plan:conflict") }
	w.Await("the winner on both sides", func() bool { return w.Project.Card(card).Title == "GitHub's title" && asked() })
	for range 2 {
		w.AwaitSettled()
		i, c := w.Repo.Issue(n), w.Project.Card(card)
		if summary, _ := bridgetest.SplitMarker(c.Summary); i.Title != "GitHub's title" || i.Body != "GitHub's text" || summary != "Planning's text" {
			t.Errorf("issue %q, %q; card %q, %q", i.Title, i.Body, c.Title, summary)
		}
		if len(i.Comments) != 2 || !strings.Contains(i.Comments[0].Body+i.Comments[1].Body, "Planning's title") {
			t.Errorf("%d comments: %v", len(i.Comments), i.Comments)
		}
		p.restart(lose)
		w.Await("the question is known again", func() bool {
			l, err := w.App.Operator().Find(t.Context(), fmt.Sprintf("%s#%d", bridgetest.RepoName, n))
			return err == nil && len(l.Asking) == 1
		})
	}
}

// A copy of a marker captures nobody's partner when the links are restored,
// whichever is seen first, and neither does a forged one.
func TestMarkersOfOthersWhenTheStoreIsLost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "planbridge.db")
	w := start(t, bridgetest.Options{Store: "file:" + path})
	n, card := w.OpenIssue(githubtest.IssueSpec{Title: "Made on GitHub", Body: "Text"})
	planned := w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "Made in planning", Summary: "Plan"})
	w.Await("its issue", func() bool { return len(w.Repo.Issues()) == 2 && len(w.Project.Tasks(planned)) == 1 })
	w.AwaitSettled()
	made := w.Repo.Issues()[1]

	p := &team{w: w}
	p.restart(func() error {
		// The listing shows the copy first.
		w.Project.MoveCard(card, "Later")
		w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "A copied card", Summary: w.Project.Card(card).Summary})
		w.Repo.Open("mallory", githubtest.IssueSpec{Title: "A copied issue", Body: made.Body})
		w.Project.NewCard(bridgetest.Bucket, "mallory", planningtest.CardSpec{
			Title:   "A forged card",
			Summary: "Text\n\nSynced by planbridge with [acme/web#1](https://github.com/acme/web/issues/1#planbridge-1.c.0123456789abcdef.0123456789abcdef.1." + strings.Repeat("0", 32) + ")",
		})
		return os.Remove(path)
	})
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Edited on GitHub" })
	w.Project.EditCard(planned, "alice", func(e *planningtest.CardEdit) { e.Title = "Edited in planning" })
	w.Await("the true partners agree", func() bool {
		return w.Project.Card(card).Title == w.Repo.Issue(n).Title && w.Repo.Issue(made.Number).Title == "Edited in planning"
	})
	w.AwaitSettled()
	w.Repo.Edit(n, "octocat", func(e *githubtest.IssueEdit) { e.Title = "Edited again" })
	w.Await("an edit reaches the true card", func() bool { return w.Project.Card(card).Title == "Edited again" })
	w.AwaitSettled()
	titles := map[string]int{}
	for _, c := range w.Project.Cards() {
		titles[c.Title] += 1 + len(c.Tasks)
	}
	// The copied card got an issue and a tracking task of its own, the forged one nothing.
	if titles["A copied card"] != 2 || titles["A forged card"] != 1 {
		t.Errorf("cards: %v", titles)
	}
	issues := map[string]int{}
	for _, i := range w.Repo.Issues() {
		issues[i.Title]++
	}
	if issues["A copied card"] != 1 || issues["Edited again"] != 1 {
		t.Errorf("issues: %v", issues)
	}
}
