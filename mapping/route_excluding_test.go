package mapping

import "testing"

// TestExcludingRoute has a row for each repository that a route would have without its own
// exclusion. The first such route, in the order of the routes, is the answer.
func TestExcludingRoute(t *testing.T) {
	routes := NewRoutes([]Route{
		{Name: "all", Repositories: []string{"acme/*"}, Exclude: []string{"acme/old-*", "beta/web"}},
		{Name: "libraries", Repositories: []string{"acme/lib-*"}, Exclude: []string{"acme/*-test", "acme/old-*"}},
		{Name: "two", Repositories: []string{"gamma/a*", "gamma/w*"}, Exclude: []string{"gamma/*"}},
	})
	for name, tt := range map[string]struct{ repo, want string }{
		"excluded by its route":         {"acme/old-web", "all"},
		"in another case":               {"ACME/Old-Web", "all"},
		"excluded by the second alone":  {"acme/lib-test", "libraries"},
		"excluded by no route":          {"acme/web", ""},
		"excluded, and not the route's": {"beta/web", ""},
		"of the second of its globs":    {"gamma/web", "two"},
		"of the exclusion alone":        {"gamma/site", ""},
		"unknown":                       {"delta/web", ""},
	} {
		r := routes.Excluding(tt.repo)
		if got := nameOf(r); got != tt.want {
			t.Errorf("%s: %s is excluded by %q, want %q", name, tt.repo, got, tt.want)
		}
		if r != nil && r.MatchesRepo(tt.repo) {
			t.Errorf("%s: %s has %s all the same", name, r.Name, tt.repo)
		}
	}
	if r := (Routes{}).Excluding("acme/web"); r != nil {
		t.Errorf("without routes it is excluded by %+v", r)
	}
}

func nameOf(r *Route) string {
	if r == nil {
		return ""
	}
	return r.Name
}
