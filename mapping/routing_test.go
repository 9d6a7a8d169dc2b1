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
	other, byID := maker, maker
	other.Name = "other"
	byID.Name, byID.Bucket = "by id", idOfABucket
	excluding := route("web", "p", "acme/*")
	excluding.Exclude = []string{"acme/web"}
	none := route("web", "p", "acme/site")
	card := Link{Route: "web", Project: "p", Pair: Pair{Origin: Planning, Card: CardID{ID: "c", BucketName: "Incoming"}}}
	making, sent := card, card
	making.Issue.Repo, making.Intent = "acme/site", &Intent{Side: GitHub}
	sent.Issue.Repo, sent.Intent = "acme/site", &Intent{Side: GitHub, Sent: true}
	linked := Link{Route: "web", Project: "p", Pair: Pair{Issue: IssueID{ID: 1, Repo: "acme/web", Number: 1}}}
	for name, c := range map[string]struct {
		routes []Route
		link   Link
		want   string
		among  []string
	}{
		"as it was":                   {[]Route{route("web", "p", "acme/web")}, linked, "web", nil},
		"renamed":                     {[]Route{route("site", "p", "acme/web")}, linked, "site", nil},
		"exact beside its glob":       {[]Route{route("web", "p", "acme/*"), route("exact", "p", "acme/web")}, linked, "exact", nil},
		"one of a list":               {[]Route{route("web", "p", "acme/*"), route("list", "p", "acme/api", "acme/web")}, linked, "list", nil},
		"excluded":                    {[]Route{excluding}, linked, "", nil},
		"excluded, and another":       {[]Route{excluding, route("rest", "p", "acme/w*")}, linked, "rest", nil},
		"its own, of several":         {[]Route{route("a", "p", "acme/web"), route("web", "p", "acme/web")}, linked, "web", nil},
		"pointed elsewhere":           {[]Route{route("web", "p", "acme/api")}, linked, "web", nil},
		"elsewhere, and another":      {[]Route{route("web", "p", "acme/api"), route("new", "p", "acme/web")}, linked, "new", nil},
		"of another project":          {[]Route{route("site", "q", "acme/web")}, linked, "", nil},
		"gone":                        {[]Route{route("site", "p", "acme/site")}, linked, "", nil},
		"several":                     {[]Route{route("a", "p", "acme/web"), route("b", "p", "acme/web")}, linked, "", []string{"a", "b"}},
		"elsewhere, and several":      {[]Route{route("web", "p", "acme/api"), route("a", "p", "acme/web"), route("b", "p", "acme/web")}, linked, "", []string{"a", "b"}},
		"a card, its route renamed":   {[]Route{maker}, Link{Route: "web", Project: "p", Pair: Pair{Card: CardID{ID: "c", BucketName: "Incoming"}}}, "site", nil},
		"a card, no issues are made":  {[]Route{none}, card, "", nil},
		"a card, another makes them":  {[]Route{none, maker}, card, "site", nil},
		"an issue is not made now":    {[]Route{none}, making, "", nil},
		"an issue may have been made": {[]Route{none}, sent, "web", nil},
		"an issue may be elsewhere":   {[]Route{none, route("api", "p", "acme/api"), maker}, sent, "web", nil},
		"a card, its own makes them":  {[]Route{other, maker}, Link{Route: "site", Project: "p", Pair: card.Pair}, "site", nil},
		"an issue is on its way":      {[]Route{route("web", "p", "acme/api"), maker}, sent, "web", nil},
		"a card, its bucket by an id": {[]Route{byID}, Link{Route: "web", Project: "p", Pair: Pair{Card: CardID{ID: "c", Bucket: idOfABucket, StateID: "state"}}}, "by id", nil},
		"a card, by the state's id":   {[]Route{byID}, Link{Route: "web", Project: "p", Pair: Pair{Card: CardID{ID: "c", Bucket: "listed", StateID: idOfABucket}}}, "by id", nil},
		"a card with another's id":    {[]Route{byID}, Link{Route: "web", Project: "p", Pair: Pair{Card: CardID{ID: idOfABucket, Bucket: "listed"}}}, "", nil},
		"an issue without a number":   {[]Route{route("site", "p", "acme/web")}, Link{Route: "web", Project: "p", Pair: Pair{Issue: IssueID{ID: 1, Repo: "acme/web"}}}, "site", nil},
		"a card, its bucket unknown":  {[]Route{maker}, Link{Route: "web", Project: "p", Pair: Pair{Card: CardID{ID: "c", BucketName: "Other"}}}, "", nil},
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

// TestRouteThatTakesAnIssueIn has a row for each way in which the route of an issue is found that
// a link has, or is to have.
func TestRouteThatTakesAnIssueIn(t *testing.T) {
	labelled := func(name, label string) Route {
		return Route{Name: name, Project: "p", Repositories: []string{"acme/web"}, Labels: []string{label}}
	}
	bugs, wishes, all := labelled("bugs", "bug"), labelled("wishes", "wish"), Route{Name: "all", Project: "p", Repositories: []string{"acme/*"}}
	moved := Route{Name: "moved", Project: "q", Repositories: []string{"acme/web"}}
	scheme := LabelScheme{Prefix: "plan:", InProgress: "in-progress", Estimate: "points/{value}", Hours: "hours/{value}"}
	projects := []PlanningProject{{ID: "p", Name: "P", Username: "p's"}, {ID: "q", Name: "Q", Username: "q's"}}
	for name, tt := range map[string]struct {
		routes []Route
		own    string // the link's route
		label  string // of the issue
		want   string // "": none
	}{
		"its own":                         {[]Route{bugs, wishes}, "wishes", "bug", "wishes"},
		"the first whose filter it meets": {[]Route{bugs, wishes}, "gone", "wish", "wishes"},
		"the first, where it meets none":  {[]Route{bugs, wishes}, "gone", "", "bugs"},
		"a glob alone":                    {[]Route{all}, "gone", "", "all"},
		"a name before a glob":            {[]Route{all, bugs}, "all", "bug", "bugs"},
		"none":                            {[]Route{{Name: "api", Project: "p", Repositories: []string{"acme/api"}}}, "api", "", ""},
		"one of another project":          {[]Route{moved}, "gone", "", ""},
		"its own, which leads elsewhere":  {[]Route{moved}, "moved", "", "moved"},
		"another beside its own":          {[]Route{moved, bugs}, "moved", "bug", "bugs"},
	} {
		link := &Link{Project: "p", Route: tt.own}
		issue := &Issue{Repo: "acme/web", Labels: []string{tt.label}}
		got := NewRoutes(tt.routes, projects...).Takes(link, issue, scheme)
		if got == nil && tt.want != "" || got != nil && got.Name != tt.want {
			t.Errorf("%s: it goes by %+v, want %q", name, got, tt.want)
		}
		if got != nil && (got.Project != "p" || got.Name == "moved" && got.Username != "p's") {
			t.Errorf("%s: it is written in %s as %s", name, got.Project, got.Username)
		}
	}
}

// TestCardWhoseRouteLeadsElsewhere: a card without an issue keeps its route, and is written in the
// name of its own project.
func TestCardWhoseRouteLeadsElsewhere(t *testing.T) {
	routes := []Route{{Name: "web", Project: "q", Repositories: []string{"acme/*"}, Username: "q's"}}
	l := &Link{Route: "web", Project: "p", Pair: Pair{Card: CardID{ID: "c"}}}
	got, among := NewRoutes(routes, PlanningProject{ID: "p", Username: "p's"}).Of(l)
	if got == nil || got.Name != "web" || got.Project != "p" || got.Username != "p's" || len(among) != 0 {
		t.Errorf("it goes by %+v among %v", got, among)
	}
}

// TestProjectsByName: a project is one that a route leads to or the configuration names; people
// name it by its name or its id.
func TestProjectsByName(t *testing.T) {
	rs := NewRoutes([]Route{{Name: "web", Project: "p1", ProjectName: "web"}, {Name: "api", Project: "p1", ProjectName: "web"}}, PlanningProject{ID: "p2", Name: "ops"}, PlanningProject{ID: "p1", Name: "web"})
	if got := rs.Projects(); !slices.Equal(got, []ObjectID{"p1", "p2"}) {
		t.Errorf("projects are %v", got)
	}
	for name, want := range map[string]ObjectID{"web": "p1", "p1": "p1", "ops": "p2", "p2": "p2", "other": "", "": ""} {
		if got := rs.ProjectNamed(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	if leading := NewRoutes([]Route{{Name: "web", Project: "p4"}}); !leading.Names("p4") || leading.Names("p5") {
		t.Error("a project that only a route leads to is not named, or another one is")
	}
	for project, want := range map[ObjectID]string{"p1": "web", "p2": "ops", "p3": "p3"} {
		if got := rs.ProjectName(project); got != want {
			t.Errorf("%s is called %q, want %q", project, got, want)
		}
		if named := rs.Names(project); named != (project != "p3") {
			t.Errorf("%s is named: %v", project, named)
		}
	}
	with := rs.With(Route{Name: "api", Project: "p3"})
	if got := with.Projects(); !slices.Equal(got, []ObjectID{"p1", "p3", "p2"}) {
		t.Errorf("with another route the projects are %v", got)
	}
}
