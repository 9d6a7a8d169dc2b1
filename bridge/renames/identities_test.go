package renames

import (
	"maps"
	"strings"
	"testing"

	"planbridge/mapping"
)

// TestIdentities: a route keeps its identity under another name and at another place, and no two
// routes have one.
func TestIdentities(t *testing.T) {
	at := func(name, repository, bucket string) mapping.Route {
		return mapping.Route{Name: name, Repositories: []string{repository}, Project: "p", Bucket: bucket}
	}
	elsewhere := at("web", "acme/web", "In")
	elsewhere.Project = "q"
	for name, steps := range map[string][]struct {
		routes []mapping.Route
		want   map[string]string
	}{
		"another name, and back": {
			{[]mapping.Route{at("web", "acme/web", "In")}, map[string]string{"web": "web"}},
			{[]mapping.Route{at("site", "acme/web", "In")}, map[string]string{"site": "web"}},
			{[]mapping.Route{at("web", "acme/web", "In")}, map[string]string{"web": "web"}},
		},
		"another bucket": {
			{[]mapping.Route{at("web", "acme/web", "In")}, map[string]string{"web": "web"}},
			{[]mapping.Route{at("web", "acme/web", "Bugs")}, map[string]string{"web": "web"}},
			{[]mapping.Route{at("site", "acme/web", "In")}, map[string]string{"site": "site"}},
		},
		"another project": {
			{[]mapping.Route{at("web", "acme/web", "In")}, map[string]string{"web": "web"}},
			{[]mapping.Route{elsewhere}, map[string]string{"web": "web~2"}},
		},
		"a repository that was renamed": {
			{[]mapping.Route{at("acme/old", "acme/old", "In")}, map[string]string{"acme/old": "acme/old"}},
			{[]mapping.Route{at("acme/new", "acme/new", "In")}, map[string]string{"acme/new": "acme/old"}},
		},
		"another repository": {
			{[]mapping.Route{at("web", "acme/web", "In")}, map[string]string{"web": "web"}},
			{[]mapping.Route{at("api", "acme/api", "In")}, map[string]string{"api": "api"}},
		},
		"the former name is another route's": {
			{[]mapping.Route{at("web", "acme/web", "In")}, map[string]string{"web": "web"}},
			{[]mapping.Route{at("site", "acme/web", "In"), at("web", "acme/web", "Bugs")}, map[string]string{"site": "web", "web": "web~2"}},
			{[]mapping.Route{at("site", "acme/web", "In"), at("web", "acme/web", "Later")}, map[string]string{"site": "web", "web": "web~2"}},
		},
		"names that move on": {
			{[]mapping.Route{at("a", "acme/a", "In"), at("b", "acme/b", "In")}, map[string]string{"a": "a", "b": "b"}},
			{[]mapping.Route{at("b", "acme/a", "In"), at("c", "acme/b", "In")}, map[string]string{"b": "a", "c": "b"}},
		},
		"one of two for a repository": {
			{[]mapping.Route{at("bugs", "acme/a", "In"), at("rest", "acme/a", "In")}, map[string]string{"bugs": "bugs", "rest": "rest"}},
			{[]mapping.Route{at("bugs", "acme/a", "In"), at("all", "acme/a", "In")}, map[string]string{"bugs": "bugs", "all": "rest"}},
		},
		"a name that was another route's once": {
			{[]mapping.Route{at("old", "acme/a", "In"), at("web", "acme/web", "In")}, map[string]string{"old": "old", "web": "web"}},
			{[]mapping.Route{at("web", "acme/web", "In")}, map[string]string{"web": "web"}},
			{[]mapping.Route{at("old", "acme/web", "In")}, map[string]string{"old": "web"}},
		},
		"where a route led once": {
			{[]mapping.Route{at("old", "acme/web", "Bugs"), at("web", "acme/web", "In")}, map[string]string{"old": "old", "web": "web"}},
			{[]mapping.Route{at("web", "acme/web", "In")}, map[string]string{"web": "web"}},
			{[]mapping.Route{at("web", "acme/web", "Bugs")}, map[string]string{"web": "web"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := book{}
			same := func(x, y string) bool {
				return strings.EqualFold(x, y) || x == "acme/old" && y == "acme/new"
			}
			for i, step := range steps {
				routes := mapping.NewRoutes(step.routes).All()
				ids := b.identify(routes, same)
				if !maps.Equal(ids, step.want) {
					t.Errorf("step %d: %v, want %v", i, ids, step.want)
				}
				before := b.with(routes, ids)
				if again := before.identify(routes, same); !maps.Equal(again, ids) {
					t.Errorf("step %d: they are %v the second time", i, again)
				}
				b = before
			}
		})
	}
}

// TestNamesAreBounded: of a route that had many names the latest are remembered.
func TestNamesAreBounded(t *testing.T) {
	b := book{}
	for i := range 100 {
		r := []*mapping.Route{{Name: strings.Repeat("x", i+1), Project: "p", Bucket: "In", Repositories: []string{"acme/web"}}}
		b = b.with(r, b.identify(r, strings.EqualFold))
	}
	if len(b) != 1 || len(b["x"].Names) != maxNames || b["x"].Names[maxNames-1] != strings.Repeat("x", 100) {
		t.Errorf("%d routes, the names %v", len(b), b["x"].Names)
	}
}

// TestCovers: a route takes over what another one led from, not what that left out.
func TestCovers(t *testing.T) {
	was := known{Project: "p", Bucket: "In", Repositories: []string{"acme/*", "octo/site"}, Exclude: []string{"acme/secret"}}
	for pattern, want := range map[string]bool{"acme/web": true, "octo/site": true, "acme/*": true, "acme/secret": false, "octo/api": false, "octo/*": false} {
		if got := was.covers(&mapping.Route{Project: "p", Bucket: "In", Repositories: []string{pattern}}); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
	if was.covers(&mapping.Route{Project: "p", Bucket: "Bugs", Repositories: []string{"acme/web"}}) || was.covers(&mapping.Route{Project: "q", Bucket: "In", Repositories: []string{"acme/web"}}) {
		t.Error("it covers what leads elsewhere")
	}
}
