package catchup_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"planbridge/bridge/catchup"
	"planbridge/mapping"
)

// TestAdoptionOfOwnIssues: once for each epoch, what any of our accounts made is
// listed, however old it is.
func TestAdoptionOfOwnIssues(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(-1000 * time.Hour)
	for i, author := range []string{"planbridge[bot]", "old-bot", "octocat"} {
		w.hub.set(mapping.Issue{ID: int64(i + 1), Repo: "acme/web", Title: author, Author: author, UpdatedAt: w.hub.now})
	}
	w.hub.now = start.Add(time.Hour)
	for range 3 {
		w.poll()
	}
	if len(w.taken.titles) != 2 || w.taken.count != 2 {
		t.Errorf("took in %v in %d steps", w.taken.titles, w.taken.count)
	}
	if doc, err := w.store.Doc(t.Context(), "", "adopted:acme/web"); err != nil || len(doc) == 0 {
		t.Errorf("document %q, %v", doc, err)
	}
}

// TestAdoptionForALaterProject: a marker leads to a project that is configured. Our accounts'
// issues are listed again where another project of the repository is configured later, and once.
func TestAdoptionForALaterProject(t *testing.T) {
	w := newCatchUp(t)
	w.hub.set(mapping.Issue{ID: 1, Repo: "acme/web", Author: "old-bot", UpdatedAt: start.Add(-1000 * time.Hour)})
	w.hub.now = start.Add(time.Hour)
	polls := func(want int, what string) {
		t.Helper()
		for range 2 {
			w.poll()
		}
		if w.taken.count != want {
			t.Errorf("%s: taken in %d times, want %d", what, w.taken.count, want)
		}
	}
	polls(1, "one project")
	other := route("other", "Incoming")
	other.Project, other.Repositories, other.NewCardsIn = "p2", []string{"acme/other"}, "acme/other"
	w.routes = append(w.routes, other)
	polls(1, "a project of another repository")
	w.routes[1].NewCardsIn = "acme/web"
	polls(2, "it makes issues in this one")
	third := route("web", "Third")
	third.Name, third.Project = "third", "p3"
	w.routes = append(w.routes, third)
	polls(3, "a third project")
	w.routes = w.routes[:1]
	polls(3, "without the others")
}

// TestAdoptionOfMarkedIssues: where our account is not known, what is marked is
// taken in of all repositories at once, or of none.
func TestAdoptionOfMarkedIssues(t *testing.T) {
	w := newCatchUp(t)
	w.hub.accounts = nil
	api := route("api", "Incoming")
	api.Repositories, api.NewCardsIn = []string{"acme/api"}, "acme/api"
	w.routes = append(w.routes, api)
	w.hub.now = start.Add(-1000 * time.Hour)
	for i, body := range []string{marked, "", marked} {
		repo := []string{"acme/web", "acme/web", "acme/api"}[i]
		w.hub.set(mapping.Issue{ID: int64(i + 1), Repo: repo, Author: "somebody", Body: body, UpdatedAt: w.hub.now})
	}
	w.hub.now = start.Add(time.Hour)
	w.hub.fail("acme/api", mapping.ErrUnavailable)
	if err := w.catchUp.Poll(t.Context()); !errors.Is(err, mapping.ErrUnavailable) || len(w.taken.adopted) != 0 {
		t.Fatalf("error %v, adopted %v", err, w.taken.adopted)
	}
	w.hub.fail("acme/api", nil)
	for range 3 {
		w.poll()
	}
	slices.Sort(w.taken.adopted)
	if !slices.Equal(w.taken.adopted, []int64{1, 3}) || w.taken.count != 0 {
		t.Errorf("adopted %v, took in %d", w.taken.adopted, w.taken.count)
	}
}

// TestCatchUpStoreLost: a new store gets everything that an earlier store got.
func TestCatchUpStoreLost(t *testing.T) {
	w := newCatchUp(t)
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 1, "one")
	w.poll()
	w.memory.Restore(newMemory().Snapshot())
	if _, err := w.store.Adopt(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.poll()
	if w.taken.count != 2 {
		t.Errorf("%d taken in, want the issue once for each store", w.taken.count)
	}
}

// TestFirstRunUnknown: nothing is listed before it is known since when.
func TestFirstRunUnknown(t *testing.T) {
	w := newCatchUp(t)
	w.options.FirstRun = func(string) time.Time { return time.Time{} }
	w.catchUp = w.options.catchUp()
	w.hub.now = start.Add(time.Hour)
	w.hub.edit("acme/web", 1, "one")
	w.poll()
	if len(w.taken.titles) != 0 {
		t.Errorf("took in %v", w.taken.titles)
	}
}

// TestEnsureFirstRun: a route begins to run once, by GitHub's clock as soon as
// that is known, and then for good.
func TestEnsureFirstRun(t *testing.T) {
	w := newCatchUp(t)
	clock := func(ahead time.Duration, known bool) func() (time.Duration, bool) {
		return func() (time.Duration, bool) { return ahead, known }
	}
	ours := func(at time.Time) catchup.FirstRunTime {
		return catchup.FirstRunTime{At: at.Add(700 * time.Millisecond), Ours: true}
	}
	behind := start.Add(-5 * time.Minute)
	for i, tc := range []struct {
		route string
		began catchup.FirstRunTime
		clock func() (time.Duration, bool)
		want  catchup.FirstRunTime
	}{
		{"web", ours(start), clock(0, false), catchup.FirstRunTime{At: start, Ours: true}},
		{"web", ours(start.Add(time.Hour)), clock(0, false), catchup.FirstRunTime{At: start, Ours: true}},
		{"web", ours(start.Add(2 * time.Hour)), clock(-5*time.Minute, true), catchup.FirstRunTime{At: behind}},
		{"web", ours(start), clock(-5*time.Minute, true), catchup.FirstRunTime{At: behind}},
		{"web", ours(start), clock(0, false), catchup.FirstRunTime{At: behind}},
		{"api", ours(start), clock(time.Minute, true), catchup.FirstRunTime{At: start.Add(time.Minute)}},
		{"api", ours(start), clock(0, true), catchup.FirstRunTime{At: start.Add(time.Minute)}},
		{"lost", catchup.FirstRunTime{At: start}, clock(time.Minute, true), catchup.FirstRunTime{At: start}},
	} {
		route := w.routes[0]
		route.Name = tc.route
		got, err := catchup.EnsureFirstRun(t.Context(), w.store, &route, tc.began, tc.clock)
		if err != nil || got != tc.want {
			t.Errorf("call %d: %v, %v; want %v", i, got, err, tc.want)
		}
	}
	if err := w.store.PutDoc(t.Context(), project, "route:web:first_run", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := catchup.EnsureFirstRun(t.Context(), w.store, &w.routes[0], ours(start), clock(0, true)); err == nil {
		t.Error("a document that is no time is no error")
	}
}
