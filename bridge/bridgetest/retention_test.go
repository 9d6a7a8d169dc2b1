package bridgetest_test

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/bridgetest"
	"planbridge/bridge/logtest"
	"planbridge/bridge/open"
	"planbridge/bridge/planningtest"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
)

// retained runs a world on a filled store, whose last pass of the retention was days ago, until the
// next pass is over. Then the caller can check the store.
func retained(t *testing.T, o bridgetest.Options, fill func(w *world, s store.Store) error, look func(w *world, s store.Store)) {
	var log logtest.Text
	o.Idle, o.Logger = true, slog.New(slog.NewTextHandler(&log, nil))
	w := start(t, o)
	c, err := config.Parse([]byte(w.YAML()), "planbridge.yaml", w.Env)
	if err != nil {
		t.Fatal(err)
	}
	open := func(do func(store.Store) error) {
		s, err := open.Store(t.Context(), c, slog.New(slog.DiscardHandler))
		if err == nil {
			err = errors.Join(do(s), s.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	open(func(s store.Store) error {
		last := time.Now().Add(-72 * time.Hour).UTC().Format(time.RFC3339)
		return errors.Join(fill(w, s), s.PutDoc(t.Context(), "", "retention", []byte(last)))
	})
	if err := w.StartBridge(); err != nil {
		t.Fatal(err)
	}
	w.Await("a pass of the retention", func() bool { return strings.Contains(log.String(), "retention: a pass is done") })
	if err := w.StopBridge(); err != nil {
		t.Fatal(err)
	}
	open(func(s store.Store) error { look(w, s); return nil })
	if strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("the log has errors:\n%s", log.String())
	}
}

func TestLedgerRetention(t *testing.T) { onBothStores(t, ledgerRetention) }

// ledgerRetention: the service removes what is older than ledger_retention, once it
// stands in ledger_archive.
func ledgerRetention(t *testing.T, o bridgetest.Options) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	o.Config = func(yaml string) string {
		return strings.Replace(yaml, "coalesce:", "ledger_retention: 48h\nledger_archive: "+path+"\ncoalesce:", 1)
	}
	retained(t, o, func(w *world, s store.Store) (err error) {
		for id, state := range map[string]string{"old": mapping.ConflictSettled, "asked": mapping.ConflictOpen} {
			err = errors.Join(err, s.PutConflict(t.Context(), mapping.Conflict{
				ID: id, Link: "l", Project: mapping.ObjectID(w.Project.ID()), Attribute: mapping.Title, GitHub: "lost", State: state, At: time.Now().Add(-50 * time.Hour).UTC(),
			}))
		}
		return err
	}, func(w *world, s store.Store) {
		cs, _, err := s.Conflicts(t.Context(), mapping.ObjectID(w.Project.ID()), "", 100)
		if err != nil || len(cs) != 1 || cs[0].ID != "asked" {
			t.Errorf("conflicts %+v stay, %v; want what is asked", cs, err)
		}
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(data, []byte(`"github":"lost"`)) || bytes.Count(data, []byte("\n")) != 1 {
			t.Errorf("the archive holds %q, %v", data, err)
		}
	})
}

func TestNamesRetention(t *testing.T) { onBothStores(t, namesRetention) }

// namesRetention: of the documents that nothing needed for long, as far as an earlier
// pass could tell, those go that nothing needs now.
func namesRetention(t *testing.T, o bridgetest.Options) {
	now, long := time.Now().UTC(), time.Now().Add(-100*24*time.Hour).UTC()
	look := func(at time.Time) string { return `{"at":"` + at.Format(time.RFC3339) + `"}` }
	stay := map[string]string{
		"repository:acme/web": `{"id":1}`, "since:acme/web": long.Format(time.RFC3339), // routed
		"repository:acme/linked": `{"id":2}`, "repository:acme/away": `{"id":3}`, // a link carries it
		"login:octocat": `{"id":4}`, "login:" + strings.ToLower(bridgetest.Bot): `{"id":5}`,
		"paused:gone": long.Format(time.RFC3339), "quarantine:acme/web": "told", "redeliver:7": look(now),
	}
	gone := map[string]string{
		"repository:acme/gone": `{"id":6,"other":7}`, "since:acme/gone": now.Format(time.RFC3339), "adopted:acme/gone": "an epoch",
		"login:hubot": `{"id":8}`, "paused:resumed": "", "quarantine:gone": "told", "redeliver:8": look(long),
	}
	routes := map[string]string{"route:linked:first_run": long.Format(time.RFC3339), "route:gone:first_run": long.Format(time.RFC3339)}
	retained(t, o, func(w *world, s store.Store) error {
		project := mapping.ObjectID(w.Project.ID())
		var errs []error
		put := func(space mapping.ObjectID, docs map[string]string) {
			for name, text := range docs {
				errs = append(errs, s.PutDoc(t.Context(), space, name, []byte(text)),
					s.PutMarks(t.Context(), space, "unused", map[string]string{name: long.Format(time.DateOnly)}))
			}
		}
		put("", stay)
		put("", gone)
		put(project, routes)
		l := &mapping.Link{
			ID: "l", Project: project, Route: "linked", Pair: mapping.Pair{
				State: mapping.Dormant,
				Issue: mapping.IssueID{ID: 9, Repo: "Acme/Linked", Number: 1}, Card: mapping.CardID{ID: "c"}, Transfer: mapping.Transfer{Away: "Acme/Away"},
			},
		}
		_, err := s.Observe(t.Context(), project, []store.Observation{{Create: l}})
		return errors.Join(append(errs, err)...)
	}, func(w *world, s store.Store) {
		project := mapping.ObjectID(w.Project.ID())
		kept, err := s.Docs(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		for name := range stay {
			if !slices.Contains(kept, name) {
				t.Errorf("%s is gone", name)
			}
		}
		for name := range gone {
			if slices.Contains(kept, name) {
				t.Errorf("%s stays", name)
			}
		}
		if kept, err := s.Docs(t.Context(), project, "route:"); err != nil || !slices.Equal(kept, []string{"route:acme/web:first_run", "route:linked:first_run"}) {
			t.Errorf("%q stay of the routes, %v", kept, err)
		}
		for _, space := range []mapping.ObjectID{"", project} {
			if marks, err := s.Marks(t.Context(), space, "unused"); err != nil || len(marks) > 0 {
				t.Errorf("marks %v of %q stay, %v", marks, space, err)
			}
		}
	})
}

func TestMarksRetention(t *testing.T) { onBothStores(t, marksRetention) }

// marksRetention: the polls' records of cards and tasks go when these are gone for long. Existing
// items keep theirs, though no listing shows them.
func marksRetention(t *testing.T, o bridgetest.Options) {
	const deletedCard, deletedTask = "54744060c955ca8169c6dead", "54744060c955ca8169c6beef"
	long := time.Now().Add(-100 * 24 * time.Hour).UTC().Format(time.DateOnly)
	var card, task, recent string
	retained(t, o, func(w *world, s store.Store) (err error) {
		project := mapping.ObjectID(w.Project.ID())
		card = w.Project.NewCard(bridgetest.Bucket, "alice", planningtest.CardSpec{Title: "It is there"})
		task = w.Project.NewTask(card, "alice", planningtest.TaskSpec{Title: "No sprint shows it"})
		recent = "54744060c955ca8169c6cafe"
		put := func(set string, marks map[string]string) {
			err = errors.Join(err, s.PutMarks(t.Context(), project, set, marks))
		}
		put("cards", map[string]string{card: "digest ", deletedCard: "digest ", recent: "digest "})
		put("tasks", map[string]string{task: "digest ", deletedTask: "digest "})
		put("unseen:cards", map[string]string{card: long, deletedCard: long, recent: time.Now().UTC().Format(time.DateOnly)})
		put("unseen:tasks", map[string]string{task: long, deletedTask: long})
		return err
	}, func(w *world, s store.Store) {
		for set, want := range map[string][]string{"cards": {card, recent}, "tasks": {task}, "unseen:cards": {recent}, "unseen:tasks": {task}} {
			marks, err := s.Marks(t.Context(), mapping.ObjectID(w.Project.ID()), set)
			got := slices.Sorted(maps.Keys(store.MarkTexts(marks)))
			slices.Sort(want)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("marks of %s are %q, %v, want %q", set, got, err, want)
			}
		}
	})
}
