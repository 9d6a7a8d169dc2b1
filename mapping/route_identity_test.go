package mapping

import "testing"

// TestIdentityOutlivesAName: the store's records of a route are found by its first name. People
// read its present name.
func TestIdentityOutlivesAName(t *testing.T) {
	rs := NewRoutes([]Route{{Name: "web", Project: "p"}, {Name: "site", ID: "api", Project: "p"}, {Name: "shop", ID: "shop", Project: "p"}})
	for name, want := range map[string]string{"web": "web", "site": "api", "shop": "shop", "api": "api", "gone": "gone", "": ""} {
		if got := rs.IdentityOf(name); got != want {
			t.Errorf("the route %q is known as %q, want %q", name, got, want)
		}
	}
	for id, want := range map[string]string{"web": "web", "api": "site", "shop": "shop", "site": "site", "gone": "gone", "": ""} {
		if got := rs.NameOf(id); got != want {
			t.Errorf("what is known as %q is called %q, want %q", id, got, want)
		}
	}
	for id, want := range map[string]string{"web": "web", "api": "site", "shop": "shop"} {
		if r := rs.ByIdentity(id); r == nil || r.Name != want || r.Identity() != id {
			t.Errorf("known as %q is %+v, want %s", id, r, want)
		}
	}
	for _, id := range []string{"site", "gone", ""} {
		if r := rs.ByIdentity(id); r != nil {
			t.Errorf("known as %q is %+v", id, r)
		}
	}
}

// TestIdentityIsTheRouteItself: a change by either way is a change of the configured route.
func TestIdentityIsTheRouteItself(t *testing.T) {
	rs := NewRoutes([]Route{{Name: "site", ID: "api"}})
	rs.ByIdentity("api").Force = true
	if !rs.ByName("site").Force || !rs.All()[0].Force {
		t.Error("another route was found by the identity")
	}
}

// TestIdentityIsNoSetting: a route that has its identity written down differs from none.
func TestIdentityIsNoSetting(t *testing.T) {
	named, plain := NewRoutes([]Route{{Name: "web", ID: "old"}}), NewRoutes([]Route{{Name: "web"}})
	if c := plain.ChangesTo(named); !c.None() {
		t.Errorf("changed is %s", c.String())
	}
}

// TestRebuilding has a row for each place of a lost link. The routes to its project make it again.
// Where none leads there any more, the routes of its repository replace them.
func TestRebuilding(t *testing.T) {
	route := func(name string, project ObjectID, repository string) Route {
		return Route{Name: name, Project: project, Repositories: []string{repository}, Username: name + "'s"}
	}
	rs := NewRoutes([]Route{
		route("web", "p", "acme/web"), route("other", "q", "acme/web"), route("glob", "p", "acme/*"), route("api", "p", "acme/api"),
	}, PlanningProject{ID: "p"}, PlanningProject{ID: "q"}, PlanningProject{ID: "former"})
	for name, tt := range map[string]struct {
		repo    string
		project ObjectID
		want    []string
	}{
		"by the routes to its project":              {"acme/web", "p", []string{"web"}},
		"not by those to another one":               {"acme/web", "q", []string{"other"}},
		"by a glob":                                 {"acme/shop", "p", []string{"glob"}},
		"by none of a project that others lead to":  {"acme/api", "q", nil},
		"by all, where no route leads there by now": {"acme/web", "former", []string{"web", "other"}},
		"of a repository without a route":           {"else/where", "former", nil},
	} {
		var got []string
		for _, r := range rs.Rebuilding(tt.repo, tt.project) {
			if got = append(got, r.Name); r.Project != tt.project || r.Username != r.Name+"'s" {
				t.Errorf("%s: %s makes it in %s as %s", name, r.Name, r.Project, r.Username)
			}
		}
		if len(got) != len(tt.want) || len(got) > 0 && (got[0] != tt.want[0] || got[len(got)-1] != tt.want[len(tt.want)-1]) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if rs.ByName("web").Project != "p" {
		t.Error("the configured route was sent to another project")
	}
}
