package importer_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/clock"
	"planbridge/bridge/guard"
	"planbridge/bridge/importer"
	"planbridge/bridge/inventory"
	"planbridge/bridge/jobs"
	"planbridge/bridge/reconcile"
	"planbridge/bridge/status"
	"planbridge/mapping"
	"planbridge/store"
	"planbridge/store/memstore"
)

const project = mapping.ObjectID("p")

// world is both sides before an import.
type world struct {
	t       *testing.T
	route   mapping.Route
	pages   [][]mapping.Issue // of acme/web
	backlog []mapping.Card
	public  bool
	private func(asked int) bool // whether the repository is, in the place of public; nil: as public says
	told    int                  // how often that was asked
	let     map[int64]bool       // strangers' issues that a person let in
	closed  error                // of the listing of issues
	asked   []int64              // which strangers' issues were asked for
	store   *memstore.Store
	// After so many pages were shown, the pages are those of then; 0: they stay.
	shifts, shown int
	then          [][]mapping.Issue
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, let: map[int64]bool{}, route: mapping.Route{
		Name: "web", Repositories: []string{"acme/web"}, Project: project, Bucket: "Incoming", Direction: mapping.Both,
		CreateIssues: true, NewCardsIn: "acme/web", Tasks: mapping.TasksSubIssues, Quarantine: mapping.QuarantineAuto,
	}}
	w.store = memstore.New(memstore.Options{Clock: clock.Runtime{}}).Open(nil)
	return w
}

func issue(number int, change ...func(*mapping.Issue)) mapping.Issue {
	i := mapping.Issue{
		ID: int64(number), Repo: "acme/web", Number: number, Title: fmt.Sprint("Issue ", number), State: "open", Author: "dev",
		Association: "MEMBER", Parent: mapping.NoParent,
	}
	for _, c := range change {
		c(&i)
	}
	return i
}

func card(id mapping.ObjectID, title string) mapping.Card {
	return mapping.Card{ID: id, Title: mapping.Versioned{Value: title, Version: 1}}
}

func (w *world) Settings() *reconcile.Settings {
	return &reconcile.Settings{Routes: mapping.NewRoutes([]mapping.Route{w.route})}
}

func (w *world) Project(mapping.ObjectID) inventory.Planning { return side{w: w} }

func (w *world) Repositories(context.Context, string) ([]string, error) { return nil, nil }

func (w *world) ListIssues(_ context.Context, _, _ string, page func([]mapping.Issue) error) error {
	for _, p := range w.pages {
		if err := page(slices.Clone(p)); err != nil {
			return err
		}
		if w.shown++; w.shown == w.shifts {
			w.pages = w.then
		}
	}
	return w.closed
}

func (w *world) Locate(_ context.Context, repo string, _ int64, _ bool) (string, error) {
	return repo, nil
}

func (w *world) Private(context.Context, string) (bool, error) {
	if w.told++; w.private != nil {
		return w.private(w.told), nil
	}
	return !w.public, nil
}

func (w *world) Released(_ context.Context, i *mapping.Issue) (bool, error) {
	w.asked = append(w.asked, i.ID)
	return w.let[i.ID], nil
}

func (w *world) Authorship(login string) mapping.Authorship {
	if login == "bridge" {
		return mapping.Named
	}
	return mapping.Theirs
}

func (w *world) Ready(context.Context) error { return nil }

// Forecast counts a second for a new issue and a minute for another write.
func (w *world) Forecast(issues, edits int) (time.Duration, string) {
	return time.Duration(issues)*time.Second + time.Duration(edits)*time.Minute, "a budget"
}

func (w *world) Observe(ctx context.Context, project mapping.ObjectID, obs []store.Observation) ([]store.Observed, error) {
	return w.store.Observe(ctx, project, obs)
}

// side is the planning project.
type side struct {
	inventory.Planning // nil: an import asks for nothing else
	w                  *world
}

func (s side) BacklogEach(_ context.Context, visit func(mapping.ObjectID, string, mapping.Card) error) error {
	for _, c := range s.w.backlog {
		if err := visit("b1", "Incoming", c); err != nil {
			return err
		}
	}
	return visit("b2", "Elsewhere", card("other", "In another bucket"))
}

func (s side) BucketIDs(context.Context, string) ([]mapping.ObjectID, error) { return nil, nil }

func (s side) EachCard(context.Context, func(mapping.Card) error) error { return nil }

func (s side) Card(_ context.Context, id mapping.ObjectID) (mapping.Card, error) {
	for _, c := range s.w.backlog {
		if c.ID == id {
			return c, nil
		}
	}
	return mapping.Card{}, mapping.ErrNotFound
}

// run runs an import to its end. The method work works the queue every second.
func (w *world) run(ask status.ImportAsk, work func(*mapping.Link)) status.Job {
	w.t.Helper()
	g := guard.New(slog.New(slog.DiscardHandler))
	runner := jobs.New(g, clock.Runtime{})
	ctx, stop := context.WithCancel(w.t.Context())
	runner.Open(ctx)
	im := importer.New(importer.Options{
		Store: w.store, Inventory: inventory.New(inventory.Options{Store: w.store, Settings: w, GitHub: w, Projects: w}), GitHub: w, Intake: w, Services: w,
		Budget: w, Jobs: runner, Guard: g, Clock: clock.Runtime{},
	})
	job, err := im.Import(ctx, ask)
	for err == nil && job.State == status.JobRunning {
		time.Sleep(time.Second)
		synctest.Wait()
		w.work(work)
		job, err = runner.Get(job.ID)
	}
	stop()
	runner.Wait()
	if err != nil {
		w.t.Fatal(err)
	}
	return job
}

// work works all keys that are due: their links are in agreement afterwards, unless do leaves
// them otherwise.
func (w *world) work(do func(*mapping.Link)) {
	w.t.Helper()
	for {
		claim, _, err := w.store.Claim(w.t.Context(), project, time.Minute)
		if err != nil {
			w.t.Fatal(err)
		}
		if claim == nil {
			return
		}
		claim.Link.State, claim.Link.Synced = mapping.Linked, time.Now()
		if do != nil {
			do(claim.Link)
		}
		if err := w.store.Finish(w.t.Context(), claim, claim.Link, nil, store.Outcome{Kind: store.Done}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// listed is what an import tells of each item, as "acme/web#1 card".
func listed(job status.Job) (out []string) {
	for _, i := range job.Import.Items {
		out = append(out, strings.TrimSpace(fmt.Sprint(i.Where, " ", i.What, " ", i.Partner)))
	}
	return out
}
