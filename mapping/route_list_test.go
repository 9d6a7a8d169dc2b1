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
