package mapping

import (
	"slices"
	"testing"
)

// TestRouteOfALink: a link goes by the route that takes its issue now, whatever that is
// called, and keeps one that was pointed elsewhere.
func TestRouteOfALink(t *testing.T) {
	route := func(name, project string, repositories ...string) Route {
		return Route{Name: name, Project: ObjectID(project), Repositories: repositories, Bucket: "Incoming", Direction: Both}
	}
	maker := route("site", "p", "acme/site")
	maker.CreateIssues, maker.NewCardsIn = true, "acme/site"
	excluding := route("web", "p", "acme/*")
	excluding.Exclude = []string{"acme/web"}
	linked := Link{Route: "web", Project: "p", Pair: Pair{Issue: IssueID{ID: 1, Repo: "acme/web", Number: 1}}}
	for name, c := range map[string]struct {
		routes []Route
		link   Link
		want   string
		among  []string
	}{
		"as it was":                  {[]Route{route("web", "p", "acme/web")}, linked, "web", nil},
		"renamed":                    {[]Route{route("site", "p", "acme/web")}, linked, "site", nil},
		"exact beside its glob":      {[]Route{route("web", "p", "acme/*"), route("exact", "p", "acme/web")}, linked, "exact", nil},
		"one of a list":              {[]Route{route("web", "p", "acme/*"), route("list", "p", "acme/api", "acme/web")}, linked, "list", nil},
		"excluded":                   {[]Route{excluding}, linked, "", nil},
		"excluded, and another":      {[]Route{excluding, route("rest", "p", "acme/w*")}, linked, "rest", nil},
		"pointed elsewhere":          {[]Route{route("web", "p", "acme/api")}, linked, "web", nil},
		"elsewhere, and another":     {[]Route{route("web", "p", "acme/api"), route("new", "p", "acme/web")}, linked, "new", nil},
		"of another project":         {[]Route{route("site", "q", "acme/web")}, linked, "", nil},
		"gone":                       {[]Route{route("site", "p", "acme/site")}, linked, "", nil},
		"several":                    {[]Route{route("a", "p", "acme/web"), route("b", "p", "acme/web")}, linked, "", []string{"a", "b"}},
		"a card, its route renamed":  {[]Route{maker}, Link{Route: "web", Project: "p", Pair: Pair{Card: CardID{ID: "c", BucketName: "Incoming"}}}, "site", nil},
		"a card, its bucket unknown": {[]Route{maker}, Link{Route: "web", Project: "p", Pair: Pair{Card: CardID{ID: "c", BucketName: "Other"}}}, "", nil},
	} {
		got, among := NewRoutes(c.routes).Of(&c.link)
		var names []string
		for _, r := range among {
			names = append(names, r.Name)
		}
		if got == nil && c.want != "" || got != nil && got.Name != c.want || !slices.Equal(names, c.among) && c.among != nil {
			t.Errorf("%s: %v among %v", name, got, names)
		}
	}
}

// TestRouteThatLeadsElsewhere: the links of a project keep a route that leads to another one by
// now. They are written in the name in which their own project is.
func TestRouteThatLeadsElsewhere(t *testing.T) {
	routes := []Route{{Name: "web", Project: "q", Repositories: []string{"acme/web"}, Username: "q's", ProjectName: "Q"}}
	l := Link{Route: "web", Project: "p", Pair: Pair{Issue: IssueID{ID: 1, Repo: "acme/web", Number: 1}}}
	got, _ := NewRoutes(routes, PlanningProject{ID: "p", Name: "P", Username: "p's"}).Of(&l)
	if got == nil || got.Name != "web" || got.Project != "p" || got.ProjectName != "P" || got.Username != "p's" {
		t.Errorf("it goes by %+v", got)
	}
	if got, among := NewRoutes(routes, PlanningProject{ID: "q"}).Of(&l); got != nil || len(among) != 0 {
		t.Errorf("of a project that is not named: by %+v of %v", got, among)
	}
}
