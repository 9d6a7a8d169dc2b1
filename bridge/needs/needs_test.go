package needs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"planbridge/bridge/catchup"
	"planbridge/bridge/identity"
	"planbridge/bridge/logtest"
	"planbridge/bridge/needs"
	"planbridge/bridge/pause"
	"planbridge/bridge/poll"
	"planbridge/bridge/preflight"
	"planbridge/bridge/renames"
	"planbridge/bridge/retention"
	"planbridge/bridge/settings"
	"planbridge/config"
	"planbridge/mapping"
	"planbridge/store"
)

var errAway = errors.New("away")

// world is what the needs are asked of.
type world struct {
	t     *testing.T
	own   string              // the bridge's login; "": not known
	shown map[string][]string // the repositories of owners that GitHub shows; others are away
	// paused has since when routes are paused, by their identities; "broken" cannot be read.
	paused    map[string]time.Time
	names     map[string][]string // that routes had, by their identities
	projects  map[mapping.ObjectID]*project
	forgotten []string
	log       logtest.Text
	needs     needs.Needs
}

// project is a planning project.
type project struct {
	w            *world
	cards, tasks []mapping.ObjectID // that listings show
	there        []mapping.ObjectID // that can be read
	err          error              // of listings
}

func newWorld(t *testing.T, repositories ...string) *world {
	w := &world{t: t, shown: map[string][]string{}, paused: map[string]time.Time{}, projects: map[mapping.ObjectID]*project{}}
	c := &config.Config{Planning: config.Planning{Projects: map[string]config.Project{"web": {ID: "p1"}, "spare": {ID: "p2"}}}}
	for _, repository := range repositories {
		c.Routes = append(c.Routes, config.Route{Name: repository, Repository: repository, Project: "web"})
	}
	set := settings.New(c, false, time.Now()).WithNames(map[string]string{"acme/former": "acme/now"})
	w.needs = needs.New(needs.Options{
		Settings: settings.NewCurrent(set), GitHub: w, Rights: w, Routes: w, Documents: w, Hooks: w, Milestones: w, Projects: w,
		Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
	})
	return w
}

func (w *world) Known() (string, mapping.Authorship) { return w.own, mapping.Unknown }

func (w *world) RepositoryNames(_ context.Context, owner string) ([]string, error) {
	names, ok := w.shown[owner]
	if !ok {
		return nil, errAway
	}
	return names, nil
}

func (w *world) HasRights(login string) bool { return login == "alice" }

func (w *world) Doc(_ context.Context, _ mapping.ObjectID, name string) ([]byte, error) {
	if name == pause.DocPaused("broken") {
		return nil, errAway
	}
	for id, since := range w.paused {
		if name == pause.DocPaused(id) {
			return []byte(since.Format(time.RFC3339)), nil
		}
	}
	return nil, store.ErrNotFound
}

func (w *world) NamesOf(_ context.Context, id string) ([]string, error) {
	return append(w.names[id], id), nil
}

func (w *world) HookNeeded(_ context.Context, hook string) (bool, error) { return hook == "fresh", nil }

func (w *world) RetireMilestones(context.Context, mapping.ObjectID) error { return errAway }

func (w *world) Remembered(id mapping.ObjectID) needs.Project {
	if p := w.projects[id]; p != nil {
		return p
	}
	return nil
}

func (p *project) ListItems(context.Context) (cards, tasks map[mapping.ObjectID]bool, err error) {
	cards, tasks = map[mapping.ObjectID]bool{}, map[mapping.ObjectID]bool{}
	for _, id := range p.cards {
		cards[id] = true
	}
	for _, id := range p.tasks {
		tasks[id] = true
	}
	return cards, tasks, p.err
}

func (p *project) read(id mapping.ObjectID) error {
	if id == "refused" {
		return errAway
	}
	if slices.Contains(p.there, id) {
		return nil
	}
	return fmt.Errorf("read %s: %w", id, mapping.ErrNotFound)
}

func (p *project) Card(_ context.Context, id mapping.ObjectID) (mapping.Card, error) {
	return mapping.Card{}, p.read(id)
}

func (p *project) Task(_ context.Context, id mapping.ObjectID) (mapping.Task, error) {
	return mapping.Task{}, p.read("task " + id)
}

func (p *project) Forget(set string, id mapping.ObjectID) {
	p.w.forgotten = append(p.w.forgotten, set+" "+string(id))
}

// needed asks whether something needs a document of the space of no project.
func (w *world) needed(carried retention.Names, doc string) bool {
	w.t.Helper()
	for _, f := range w.needs.Families(w.t.Context(), carried) {
		if name, is := strings.CutPrefix(doc, f.Prefix); is && f.Project == "" {
			needed, err := f.Needed(w.t.Context(), name)
			if err != nil {
				w.t.Fatal(err)
			}
			return needed
		}
	}
	w.t.Fatalf("%s is of no family", doc)
	return false
}

// TestRepositories: the record of a repository is needed while a route is for its present or former
// name. It is also needed while a link has it.
func TestRepositories(t *testing.T) {
	w := newWorld(t, "acme/web", "acme/former", "octo/*", "away/*")
	w.shown["octo"] = []string{"octo/Shown"}
	carried := retention.Names{Repositories: map[string]bool{"acme/carried": true}}
	for repo, want := range map[string]bool{
		"acme/web": true, "acme/former": true, "acme/now": true, "Acme/Carried": true, "acme/other": false,
		"octo/shown": true, "octo/gone": false, "away/any": true,
	} {
		for _, doc := range []string{identity.DocRepository(repo), store.DocRepositoryAdopted(repo)} {
			if got := w.needed(carried, doc); got != want {
				t.Errorf("%s is needed: %v", doc, got)
			}
		}
	}
}

// TestNamesOfDocuments: each document goes with what it is about.
func TestNamesOfDocuments(t *testing.T) {
	w := newWorld(t, "acme/web")
	w.own, w.paused["gone"] = "bridge", time.Now()
	for doc, want := range map[string]bool{
		identity.DocLogin("alice"): true, identity.DocLogin("mallory"): false,
		preflight.DocQuarantine("acme/web"): true, preflight.DocQuarantine("gone"): false,
		renames.DocsRoute + "acme/web": true, renames.DocsRoute + "gone": false,
		pause.DocPaused("acme/web"): true, pause.DocPaused("gone"): true, pause.DocPaused("resumed"): false, pause.DocPaused("broken"): true,
		catchup.HookDocs + "fresh": true, catchup.HookDocs + "old": false,
	} {
		if got := w.needed(retention.Names{}, doc); got != want {
			t.Errorf("%s is needed: %v", doc, got)
		}
	}
	w.own = ""
	if !w.needed(retention.Names{}, identity.DocLogin("mallory")) {
		t.Error("a login that may be the bridge's own is forgotten")
	}
}

// TestFirstRuns: the first run of a route is needed in each configured project while the route
// exists. It is also needed while a link belongs to it, by any name that it had.
func TestFirstRuns(t *testing.T) {
	w := newWorld(t, "acme/web")
	w.names = map[string][]string{"former": {"former", "carried"}, "old": {"old", "newer"}}
	of := map[mapping.ObjectID]bool{}
	for _, f := range w.needs.Families(t.Context(), retention.Names{Routes: map[string]bool{"carried": true}}) {
		if f.Prefix != catchup.RouteDocs {
			continue
		}
		of[f.Project] = true
		for route, want := range map[string]bool{"acme/web": true, "carried": true, "former": true, "old": false, "gone": false} {
			if got, err := f.Needed(t.Context(), route); err != nil || got != want {
				t.Errorf("that %s began is needed in %s: %v, %v", route, f.Project, got, err)
			}
		}
	}
	if len(of) != 2 || !of["p1"] || !of["p2"] {
		t.Errorf("routes begin in %v", of)
	}
}

// TestItems: cards and tasks are needed that a listing shows, and tasks that links carry.
func TestItems(t *testing.T) {
	w := newWorld(t)
	w.projects["p1"] = &project{w: w, cards: []mapping.ObjectID{"c1"}, tasks: []mapping.ObjectID{"t1"}, there: []mapping.ObjectID{"c2", "task t2"}}
	sets, err := w.needs.Items(t.Context(), "p1", retention.Names{Tasks: map[mapping.ObjectID]bool{"t3": true}})
	if err != nil || len(sets) != 2 || sets[0].Set() != poll.SetCards || sets[1].Set() != poll.SetTasks {
		t.Fatalf("%d sets, %v", len(sets), err)
	}
	for i, ids := range []map[mapping.ObjectID]bool{{"c1": true, "c2": false, "t3": false}, {"t1": true, "t2": false, "t3": true}} {
		for id, want := range ids {
			if sets[i].Needed(id) != want {
				t.Errorf("%s %s is needed: %v", sets[i].Set(), id, !want)
			}
		}
	}
	for i, ids := range []map[mapping.ObjectID]bool{{"c2": false, "c9": true}, {"t2": false, "c2": true}} {
		for id, want := range ids {
			if gone, err := sets[i].Gone(t.Context(), id); err != nil || gone != want {
				t.Errorf("%s %s is gone: %v, %v", sets[i].Set(), id, gone, err)
			}
		}
	}
	if gone, err := sets[0].Gone(t.Context(), "refused"); gone || !errors.Is(err, errAway) {
		t.Errorf("a card that cannot be read is gone: %v, %v", gone, err)
	}
	sets[0].Forget("c9")
	sets[1].Forget("t9")
	if fmt.Sprint(w.forgotten) != "[cards c9 tasks t9]" {
		t.Errorf("forgotten are %q", w.forgotten)
	}
}

// TestItemsOfAnotherDay: nothing is looked through where planning does not answer, or the project
// is not configured.
func TestItemsOfAnotherDay(t *testing.T) {
	w := newWorld(t)
	if sets, err := w.needs.Items(t.Context(), "p9", retention.Names{}); sets != nil || err != nil {
		t.Errorf("of no project: %v, %v", sets, err)
	}
	w.projects["p1"] = &project{w: w, err: errAway}
	if sets, err := w.needs.Items(t.Context(), "p1", retention.Names{}); sets != nil || err != nil || w.log.Lines("another day") != 1 {
		t.Errorf("of one that is away: %v, %v", sets, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := w.needs.Items(ended, "p1", retention.Names{}); !errors.Is(err, context.Canceled) {
		t.Errorf("of a pass that ended: %v", err)
	}
	if err := w.needs.RetireMilestones(t.Context(), "p1"); !errors.Is(err, errAway) {
		t.Errorf("the milestones answer %v", err)
	}
}
