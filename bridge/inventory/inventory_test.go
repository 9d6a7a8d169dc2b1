package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"planbridge/bridge/reconcile"
	"planbridge/mapping"
	"planbridge/store"
)

// hub is a GitHub that has these repositories and issues.
type hub struct {
	globs  map[string][]string
	issues map[string][][]mapping.Issue // by repository: pages
	errs   map[string]error             // by repository or glob
	listed []string                     // repository and state
}

func (h *hub) Repositories(_ context.Context, glob string) ([]string, error) {
	return h.globs[glob], h.errs[glob]
}

func (h *hub) ListIssues(_ context.Context, repo, state string, page func([]mapping.Issue) error) error {
	h.listed = append(h.listed, repo+" "+state)
	for _, issues := range h.issues[repo] {
		if err := page(issues); err != nil {
			return err
		}
	}
	return h.errs[repo]
}

// plan is what is configured.
type plan struct {
	routes mapping.Routes
	sides  map[mapping.ObjectID]Planning
}

func (p plan) Settings() *reconcile.Settings        { return &reconcile.Settings{Routes: p.routes} }
func (p plan) Project(id mapping.ObjectID) Planning { return p.sides[id] }

// side is a planning project that is never asked anything.
type side struct{ Planning }

func inventory(h *hub, p plan) *Inventory { return New(Options{Settings: p, GitHub: h, Projects: p}) }

// walker notes what it is told of, and fails where it is told to.
type walker struct {
	told  []string
	fails string // the method whose call fails
}

var errWalker = errors.New("enough")

func (w *walker) note(what string) error {
	w.told = append(w.told, what)
	if what == w.fails {
		return errWalker
	}
	return nil
}

func (w *walker) EnterRepository(_ context.Context, repo string) (string, error) {
	return strings.Replace(repo, "old", "new", 1), w.note("enter " + repo)
}

func (w *walker) VisitIssue(_ context.Context, issue *mapping.Issue) error {
	return w.note(fmt.Sprint("issue ", issue.Number))
}
func (w *walker) EndPage(context.Context) error { return w.note("page") }
func (w *walker) SkipRepository(repo string, routes []string, err error) {
	w.told = append(w.told, fmt.Sprintf("skip %s of %s: %v", repo, strings.Join(routes, ", "), err))
}

func route(name string, repositories ...string) mapping.Route {
	return mapping.Route{Name: name, Project: mapping.ObjectID("of " + name), Repositories: repositories}
}

// TestWalkOverIssues: repositories that routes name, and those of their globs, are listed once each,
// page by page. One that refuses to be listed is skipped, and any other error ends the walk.
func TestWalkOverIssues(t *testing.T) {
	excluding := route("glob", "acme/*")
	excluding.Exclude = []string{"acme/secret"}
	pages := func(numbers ...int) (out [][]mapping.Issue) {
		for _, n := range numbers {
			out = append(out, []mapping.Issue{{Number: n}, {Number: n + 1}})
		}
		return out
	}
	away := errors.New("GitHub is away")
	for name, tt := range map[string]struct {
		routes []mapping.Route
		hub    hub
		fails  string
		told   string
		listed string
		err    string // "": none
	}{
		"two pages": {
			[]mapping.Route{route("web", "acme/web")},
			hub{issues: map[string][][]mapping.Issue{"acme/web": pages(1, 3)}},
			"",
			"enter acme/web|issue 1|issue 2|page|issue 3|issue 4|page", "acme/web open", "",
		},
		"a repository of two routes": {[]mapping.Route{route("web", "acme/web"), route("bugs", "Acme/Web", "acme/api")}, hub{}, "", "enter acme/web|enter acme/api", "acme/web open|acme/api open", ""},
		"a glob": {
			[]mapping.Route{excluding},
			hub{globs: map[string][]string{"acme/*": {"acme/web", "acme/secret", "other/web", "acme/api"}}},
			"",
			"enter acme/web|enter acme/api", "acme/web open|acme/api open", "",
		},
		"a name and a glob":           {[]mapping.Route{route("web", "acme/*", "acme/web")}, hub{globs: map[string][]string{"acme/*": {"acme/web"}}}, "", "enter acme/web", "acme/web open", ""},
		"a renamed repository":        {[]mapping.Route{route("web", "acme/old")}, hub{}, "", "enter acme/old", "acme/new open", ""},
		"a glob that is refused":      {[]mapping.Route{route("web", "acme/*")}, hub{errs: map[string]error{"acme/*": mapping.ErrForbidden}}, "", "skip acme/* of web: forbidden", "", ""},
		"a glob while GitHub is away": {[]mapping.Route{route("web", "acme/*")}, hub{errs: map[string]error{"acme/*": away}}, "", "", "", "list repositories acme/*: GitHub is away"},
		"one that is not there": {
			[]mapping.Route{route("web", "acme/web", "acme/api")},
			hub{errs: map[string]error{"acme/web": mapping.ErrNotFound}},
			"",
			"enter acme/web|skip acme/web of web: not found|enter acme/api", "acme/web open|acme/api open", "",
		},
		"one that moved":        {[]mapping.Route{route("web", "acme/web")}, hub{errs: map[string]error{"acme/web": mapping.ErrMoved}}, "", "enter acme/web|skip acme/web of web: moved", "acme/web open", ""},
		"one that is deleted":   {[]mapping.Route{route("web", "acme/web")}, hub{errs: map[string]error{"acme/web": mapping.ErrGone}}, "", "enter acme/web|skip acme/web of web: gone", "acme/web open", ""},
		"one that is forbidden": {[]mapping.Route{route("web", "acme/web")}, hub{errs: map[string]error{"acme/web": mapping.ErrForbidden}}, "", "enter acme/web|skip acme/web of web: forbidden", "acme/web open", ""},
		"GitHub is away":        {[]mapping.Route{route("web", "acme/web", "acme/api")}, hub{errs: map[string]error{"acme/web": away}}, "", "enter acme/web", "acme/web open", "list issues of acme/web: GitHub is away"},
		"an issue ends the walk": {
			[]mapping.Route{route("web", "acme/web")},
			hub{issues: map[string][][]mapping.Issue{"acme/web": pages(1, 3)}},
			"issue 2",
			"enter acme/web|issue 1|issue 2", "acme/web open", "list issues of acme/web: enough",
		},
		"a page ends the walk": {
			[]mapping.Route{route("web", "acme/web")},
			hub{issues: map[string][][]mapping.Issue{"acme/web": pages(1, 3)}},
			"page",
			"enter acme/web|issue 1|issue 2|page", "acme/web open", "list issues of acme/web: enough",
		},
		"a repository that must not be entered": {[]mapping.Route{route("web", "acme/web")}, hub{}, "enter acme/web", "enter acme/web", "", "list issues of acme/web: enough"},
	} {
		routes, w := mapping.NewRoutes(tt.routes), &walker{fails: tt.fails}
		err := inventory(&tt.hub, plan{routes: routes}).Issues(t.Context(), routes.All(), "open", w)
		if got := strings.Join(w.told, "|"); got != tt.told {
			t.Errorf("%s: told of %q, want %q", name, got, tt.told)
		}
		if got := strings.Join(tt.hub.listed, "|"); got != tt.listed {
			t.Errorf("%s: listed %q, want %q", name, got, tt.listed)
		}
		if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%s: %v, want %q", name, err, tt.err)
		}
	}
}

// TestRoutesByName: no name means all of them, and an unknown one is told as not found.
func TestRoutesByName(t *testing.T) {
	v := inventory(&hub{}, plan{routes: mapping.NewRoutes([]mapping.Route{route("web"), route("api")})})
	for name, want := range map[string][]string{"": {"web", "api"}, "api": {"api"}, "other": nil} {
		routes, err := v.Routes(name)
		var got []string
		for _, r := range routes {
			got = append(got, r.Name)
		}
		if !slices.Equal(got, want) || errors.Is(err, store.ErrNotFound) != (want == nil) {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
}

// TestEachProject: the projects of the routes are visited once, those alone that are configured, and
// an error ends it.
func TestEachProject(t *testing.T) {
	routes := mapping.NewRoutes([]mapping.Route{route("web"), route("api"), {Name: "bugs", Project: "of web"}, route("away")})
	v := inventory(&hub{}, plan{routes, map[mapping.ObjectID]Planning{"of web": side{}, "of api": side{}, "of none": side{}}})
	for name, tt := range map[string]struct {
		of    []*mapping.Route
		fails mapping.ObjectID
		want  []mapping.ObjectID
	}{
		"all":           {routes.All(), "", []mapping.ObjectID{"of web", "of api"}},
		"one route's":   {[]*mapping.Route{routes.ByName("api")}, "", []mapping.ObjectID{"of api"}},
		"no route's":    {nil, "", nil},
		"the first one": {routes.All(), "of web", []mapping.ObjectID{"of web"}},
	} {
		var got []mapping.ObjectID
		err := v.EachProject(tt.of, func(project mapping.ObjectID, _ Planning) error {
			if got = append(got, project); project == tt.fails {
				return errWalker
			}
			return nil
		})
		if !slices.Equal(got, tt.want) || errors.Is(err, errWalker) != (tt.fails != "") {
			t.Errorf("%s: visited %v, %v", name, got, err)
		}
	}
}

// TestWait: a wait lasts as long as it was asked for, or until nobody waits any more.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := Wait(t.Context(), LookEvery); err != nil || time.Since(began) != LookEvery {
			t.Errorf("it lasted %v, %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := Wait(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != LookEvery+time.Second {
			t.Errorf("it was given up after %v, %v", time.Since(began), err)
		}
	})
}
