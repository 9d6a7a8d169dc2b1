package mapping

import (
	"slices"
	"testing"
)

// TestRoutesOfSeveralRepositories: a name beats a glob, whichever route of which kind has it,
// and what is excluded is excluded from globs alone.
func TestRoutesOfSeveralRepositories(t *testing.T) {
	routes := NewRoutes([]Route{
		{Name: "mixed", Repositories: []string{"acme/lib-*", "acme/web"}, Exclude: []string{"acme/lib-old", "acme/web"}},
		{Name: "list", Repositories: []string{"acme/api", "acme/lib-c"}},
		{Name: "rest", Repositories: []string{"acme/*"}},
	})
	for repo, want := range map[string][]string{
		"acme/Web": {"mixed"}, "acme/api": {"list"}, "acme/lib-c": {"list"}, "acme/lib-d": {"mixed", "rest"},
		"acme/lib-old": {"rest"}, "beta/web": nil,
	} {
		var got []string
		for _, r := range routes.ForRepo(repo) {
			got = append(got, r.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", repo, got, want)
		}
	}
}

// TestProjectsOfRoutes: the projects of the routes come first, each once, then those that no route
// leads to. Each is found by the operator's name of it and by its id.
func TestProjectsOfRoutes(t *testing.T) {
	routes := NewRoutes([]Route{
		{Name: "b", Repositories: []string{"acme/*"}, Project: "p2", ProjectName: "ops"},
		{Name: "a", Repositories: []string{"acme/web"}, Project: "p1", ProjectName: "web"},
		{Name: "c", Repositories: []string{"acme/api"}, Project: "p1", ProjectName: "web"},
	}, PlanningProject{ID: "p1", Name: "web"}, PlanningProject{ID: "p3", Name: "spare"})
	if got, want := routes.Projects(), []ObjectID{"p1", "p2", "p3"}; !slices.Equal(got, want) {
		t.Errorf("projects are %q, want %q", got, want)
	}
	for name, want := range map[string]ObjectID{"web": "p1", "ops": "p2", "spare": "p3", "p2": "p2", "p3": "p3", "none": "", "": ""} {
		if got := routes.ProjectNamed(name); got != want {
			t.Errorf("%q is project %q, want %q", name, got, want)
		}
	}
	for id, want := range map[ObjectID]string{"p1": "web", "p3": "spare", "p9": "p9"} {
		if got := routes.ProjectName(id); got != want {
			t.Errorf("project %s is called %q, want %q", id, got, want)
		}
	}
}

// TestWithAnotherRoute: one route takes the place of that of its name, in a copy.
func TestWithAnotherRoute(t *testing.T) {
	routes := NewRoutes([]Route{{Name: "a", Repositories: []string{"acme/web"}, Bucket: "One"}, {Name: "b", Repositories: []string{"acme/api"}, Bucket: "Two"}})
	next := routes.With(Route{Name: "b", Repositories: []string{"acme/api"}, Bucket: "Three"})
	if routes.ByName("b").Bucket != "Two" || next.ByName("b").Bucket != "Three" || next.ByName("a").Bucket != "One" || len(next.All()) != 2 {
		t.Errorf("the routes are %+v and were %+v", next.All(), routes.All())
	}
	if same := routes.With(Route{Name: "none"}); len(same.All()) != 2 || same.ByName("none") != nil {
		t.Error("a route of another name was added")
	}
}

// TestAsks: people may be asked where both sides are written and the policy may find no answer.
func TestAsks(t *testing.T) {
	for direction, may := range map[Direction]bool{Both: true, "": true, ToGitHub: false, ToPlanning: false} {
		for policy, asks := range map[Policy]bool{PolicyAsk: true, PolicyNewest: true, PolicyMerge: false, PolicyGitHub: false, PolicyPlanning: false} {
			byDefault := Route{Direction: direction, DefaultPolicy: policy}
			byName := Route{Direction: direction, DefaultPolicy: PolicyMerge, Policies: map[Attribute]Policy{Title: policy}}
			if want := may && asks; byDefault.Asks(Title) != want || byName.Asks(Title) != want || byName.Asks(Summary) {
				t.Errorf("%q by %q: asks %v and %v, want %v", direction, policy, byDefault.Asks(Title), byName.Asks(Title), want)
			}
		}
	}
}

// TestGlobs: each character that a pattern begins with makes a repository a glob. A route is exact
// as long as it names all of its repositories.
func TestGlobs(t *testing.T) {
	for repository, glob := range map[string]bool{
		"acme/web": false, "acme/*": true, "acme/we?": true, "acme/[vw]eb": true, "*/*": true, "acme/web-1.0_x": false, "acme/.github": false,
	} {
		r := Route{Repositories: []string{"acme/api", repository}}
		named, globs := []string{"acme/api", repository}, []string{}
		if glob {
			named, globs = []string{"acme/api"}, []string{repository}
		}
		if IsGlob(repository) != glob || r.Exact() == glob {
			t.Errorf("%s is a glob: %v, and its route is exact: %v", repository, IsGlob(repository), r.Exact())
		}
		if !slices.Equal(r.Named(), named) || !slices.Equal(r.Globs(), globs) {
			t.Errorf("%s: the route names %q and has the globs %q", repository, r.Named(), r.Globs())
		}
		if r.Names(repository) == glob {
			t.Errorf("%s is named by itself: %v", repository, !glob)
		}
	}
}

// TestWhatAGlobMatches: a glob takes one repository's name in any case, and never more than one
// level. A pattern that cannot be read takes nothing.
func TestWhatAGlobMatches(t *testing.T) {
	for name, tt := range map[string]struct {
		glob, repo string
		want       bool
	}{
		"all of an owner":             {"acme/*", "acme/web", true},
		"of another owner":            {"acme/*", "beta/web", false},
		"a beginning":                 {"acme/lib-*", "acme/lib-a", true},
		"another beginning":           {"acme/lib-*", "acme/web", false},
		"one character":               {"acme/we?", "acme/web", true},
		"two for one":                 {"acme/we?", "acme/webb", false},
		"none for one":                {"acme/we?", "acme/we", false},
		"a set":                       {"acme/[vw]eb", "acme/web", true},
		"not of the set":              {"acme/[vw]eb", "acme/xeb", false},
		"the glob in another case":    {"Acme/Lib-*", "acme/lib-a", true},
		"the name in another case":    {"acme/lib-*", "ACME/LIB-A", true},
		"every owner":                 {"*/web", "beta/web", true},
		"one star for both parts":     {"*", "acme/web", false},
		"a set that is not closed":    {"acme/[w", "acme/w", false},
		"a set that stands for a bar": {"acme[/]web", "acme/web", true},
	} {
		r := Route{Repositories: []string{tt.glob}}
		if got := r.MatchesRepo(tt.repo); got != tt.want {
			t.Errorf("%s: %s takes %s: %v", name, tt.glob, tt.repo, got)
		}
		r = Route{Repositories: []string{"*/*"}, Exclude: []string{tt.glob}}
		if got := r.MatchesRepo(tt.repo); got == tt.want {
			t.Errorf("%s: without %s the route takes %s: %v", name, tt.glob, tt.repo, got)
		}
	}
}
