package mapping

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPolicyOfARoute: that of the attribute, else the route's, else a merge.
func TestPolicyOfARoute(t *testing.T) {
	for name, tt := range map[string]struct {
		route Route
		want  Policy
	}{
		"nothing is said":       {Route{}, PolicyMerge},
		"of the route":          {Route{DefaultPolicy: PolicyAsk}, PolicyAsk},
		"of the attribute":      {Route{DefaultPolicy: PolicyAsk, Policies: map[Attribute]Policy{Title: PolicyNewest}}, PolicyNewest},
		"of another attribute":  {Route{DefaultPolicy: PolicyAsk, Policies: map[Attribute]Policy{Summary: PolicyNewest}}, PolicyAsk},
		"of the attribute only": {Route{Policies: map[Attribute]Policy{Summary: PolicyNewest}}, PolicyMerge},
	} {
		if got := tt.route.Policy(Title); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestMatchesRepo: names are taken in any case, and a glob stays within one owner.
func TestMatchesRepo(t *testing.T) {
	for _, tt := range []struct {
		own, exclude, repo string
		want               bool
	}{
		{"acme/web", "", "acme/web", true},
		{"acme/web", "", "Acme/WEB", true},
		{"Acme/Web", "", "acme/web", true},
		{"acme/web", "", "acme/webapp", false},
		{"acme/web", "acme/web", "acme/web", true}, // a name is no glob, and nothing is excluded from it
		{"acme/*", "", "acme/web", true},
		{"acme/*", "", "ACME/Web", true},
		{"acme/*", "", "beta/web", false},
		{"acme/*", "", "acme/web/more", false},
		{"*/web", "", "acme/web", true},
		{"acme/lib-?", "", "acme/lib-a", true},
		{"acme/lib-?", "", "acme/lib-ab", false},
		{"acme/[ab]*", "", "acme/api", true},
		{"acme/[ab]*", "", "acme/web", false},
		{"acme/[", "", "acme/[", false}, // no pattern
		{"acme/*", "acme/Web", "acme/web", false},
		{"acme/*", "acme/old-*", "acme/old-web", false},
		{"acme/*", "acme/old-*", "acme/web", true},
		{"acme/*", "acme/[", "acme/web", true},
	} {
		r := Route{Repositories: []string{tt.own}}
		if tt.exclude != "" {
			r.Exclude = []string{tt.exclude}
		}
		if got := r.MatchesRepo(tt.repo); got != tt.want {
			t.Errorf("%s without %q: %s matches: %v", tt.own, tt.exclude, tt.repo, got)
		}
	}
}

// TestNamesAndGlobs: each repository of a route is one or the other.
func TestNamesAndGlobs(t *testing.T) {
	r := Route{Repositories: []string{"acme/web", "acme/lib-*", "acme/api", "acme/[ab]"}}
	if want := []string{"acme/web", "acme/api"}; !slices.Equal(r.Named(), want) {
		t.Errorf("named are %v", r.Named())
	}
	if want := []string{"acme/lib-*", "acme/[ab]"}; !slices.Equal(r.Globs(), want) {
		t.Errorf("globs are %v", r.Globs())
	}
	if r.Exact() || !(&Route{Repositories: r.Named()}).Exact() {
		t.Error("a route is exact that has a glob, or one is not that has none")
	}
	if r.Names("acme/lib-*") || !r.Names("ACME/web") {
		t.Error("a glob is a name, or a name is none")
	}
	if len(r.Repositories) != 4 {
		t.Errorf("asking changed the route: %v", r.Repositories)
	}
}

// TestAccepts has a case for each filter of a route.
func TestAccepts(t *testing.T) {
	scheme := LabelScheme{Prefix: "plan:"}
	for name, tt := range map[string]struct {
		route       Route
		labels      string
		association string
		why         string // "": it passes
	}{
		"no filter":                 {Route{}, "", "", ""},
		"ignored by a person":       {Route{}, "plan:ignore", "", "it has the label plan:ignore"},
		"ignored, in any case":      {Route{}, "PLAN:Ignore", "", "it has the label plan:ignore"},
		"one of the labels":         {Route{Labels: []string{"bug", "task"}}, "task,other", "", ""},
		"in any case":               {Route{Labels: []string{"Bug"}}, "bUG", "", ""},
		"none of the labels":        {Route{Labels: []string{"bug", "task"}}, "other", "", "it has none of the labels bug, task"},
		"no label at all":           {Route{Labels: []string{"bug"}}, "", "", "it has none of the labels bug"},
		"excluded":                  {Route{ExcludeLabels: []string{"wontplan"}}, "wontplan", "", "it has the excluded label wontplan"},
		"not excluded":              {Route{ExcludeLabels: []string{"wontplan", "later"}}, "bug", "", ""},
		"asked for, not excluded":   {Route{Labels: []string{"bug"}, ExcludeLabels: []string{"wontplan"}}, "bug", "", ""},
		"excluded beats asked for":  {Route{Labels: []string{"bug"}, ExcludeLabels: []string{"wontplan"}}, "bug,wontplan", "", "it has the excluded label wontplan"},
		"ignored beats all":         {Route{Labels: []string{"bug"}}, "plan:ignore", "", "it has the label plan:ignore"},
		"anybody":                   {Route{Authors: AuthorsAny}, "", "NONE", ""},
		"an owner is a member":      {Route{Authors: AuthorsMembers}, "", "OWNER", ""},
		"a member":                  {Route{Authors: AuthorsMembers}, "", "member", ""},
		"a collaborator":            {Route{Authors: AuthorsMembers}, "", "COLLABORATOR", ""},
		"a contributor is none":     {Route{Authors: AuthorsMembers}, "", "CONTRIBUTOR", "its author is not one of the route's members"},
		"a contributor":             {Route{Authors: AuthorsContributors}, "", "CONTRIBUTOR", ""},
		"a member contributes":      {Route{Authors: AuthorsContributors}, "", "MEMBER", ""},
		"a stranger":                {Route{Authors: AuthorsContributors}, "", "NONE", "its author is not one of the route's contributors"},
		"an association of no name": {Route{Authors: AuthorsContributors}, "", "", "its author is not one of the route's contributors"},
	} {
		t.Run(name, func(t *testing.T) {
			issue := &Issue{Association: tt.association}
			if tt.labels != "" {
				issue.Labels = strings.Split(tt.labels, ",")
			}
			ok, why := tt.route.Accepts(issue, scheme)
			if ok != (tt.why == "") || why != tt.why {
				t.Errorf("%v, %q", ok, why)
			}
		})
	}
}

const idOfABucket = "54744060C955ca8169c61ee6"

// TestBuckets: the first label of the route that an issue has names the bucket. A bucket is
// known by its title and by any of its ids.
func TestBuckets(t *testing.T) {
	r := Route{Bucket: "Incoming", BucketByLabel: []LabelBucket{{"bug", "Bugs"}, {"crash", idOfABucket}}}
	for _, tt := range []struct {
		labels        []string
		bucket, title string
	}{
		{nil, "Incoming", "Incoming"},
		{[]string{"other"}, "Incoming", "Incoming"},
		{[]string{"BUG"}, "Bugs", "Bugs"},
		{[]string{"crash"}, idOfABucket, ""},
		{[]string{"crash", "bug"}, "Bugs", "Bugs"}, // in the route's order, not in the issue's
	} {
		issue := &Issue{Labels: tt.labels}
		if got := r.BucketFor(issue); got != tt.bucket {
			t.Errorf("%v: bucket %q, want %q", tt.labels, got, tt.bucket)
		}
		if got := r.BucketTitle(issue); got != tt.title {
			t.Errorf("%v: title %q, want %q", tt.labels, got, tt.title)
		}
	}
	for _, tt := range []struct {
		title string
		ids   []ObjectID
		want  bool
	}{
		{"Incoming", nil, true},
		{"Bugs", []ObjectID{"of the listing", "of the state"}, true},
		{"Renamed", []ObjectID{"of the listing", idOfABucket}, true},
		{"Later", []ObjectID{"of the listing"}, false},
		{"incoming", nil, false}, // two titles may differ by case alone
		{"", nil, false},
	} {
		if got := r.OwnsBucket(tt.title, tt.ids...); got != tt.want {
			t.Errorf("bucket %q %v: %v", tt.title, tt.ids, got)
		}
	}
	if !r.NamesBucketByID() || (&Route{Bucket: "Incoming"}).NamesBucketByID() || !(&Route{Bucket: idOfABucket}).NamesBucketByID() {
		t.Error("a title is an id, or an id is a title")
	}
}

// TestWhatAnObjectIDIs: 24 hexadecimal digits, in any case.
func TestWhatAnObjectIDIs(t *testing.T) {
	for text, want := range map[string]bool{
		idOfABucket: true, strings.ToLower(idOfABucket): true, idOfABucket[1:]: false, idOfABucket + "0": false,
		"0123456789abcdefABCDEF01": true, strings.Repeat("f", 24): true, strings.Repeat("F", 24): true,
		strings.Replace(idOfABucket, "5", "g", 1): false, "": false, strings.Repeat("é", 12): false,
	} {
		if got := isObjectID(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func routesOfTwoProjects() Routes {
	return NewRoutes([]Route{
		{Name: "rest", Repositories: []string{"acme/*"}, Project: "one", Bucket: "Rest", CreateIssues: true, NewCardsIn: "acme/web"},
		{Name: "bugs", Repositories: []string{"acme/web"}, Project: "one", Labels: []string{"bug"}, Bucket: "Bugs"},
		{Name: "web", Repositories: []string{"acme/web"}, Project: "two", Labels: []string{"task"}, Bucket: "Incoming", CreateIssues: true, NewCardsIn: "acme/web"},
	})
}

// TestForIssue: the first route that takes an issue; where none does, the first says why.
func TestForIssue(t *testing.T) {
	routes := routesOfTwoProjects()
	for name, tt := range map[string]struct {
		repo, label, route, why string
	}{
		"the first that takes it":       {"acme/web", "bug", "bugs", ""},
		"the second":                    {"acme/web", "task", "web", ""},
		"none, though a glob would":     {"acme/web", "other", "", "it has none of the labels bug"},
		"a glob":                        {"acme/api", "other", "rest", ""},
		"of a repository without route": {"beta/web", "bug", "", "no route is for its repository"},
	} {
		t.Run(name, func(t *testing.T) {
			r, why := routes.ForIssue(&Issue{Repo: tt.repo, Labels: []string{tt.label}}, LabelScheme{Prefix: "plan:"})
			got := ""
			if r != nil {
				got = r.Name
			}
			if got != tt.route || why != tt.why {
				t.Errorf("route %q, %q; want %q, %q", got, why, tt.route, tt.why)
			}
		})
	}
}

// TestTakes: a transferred issue stays in its project. Its own route keeps it, where that is
// for the repository; else the first whose filter it passes, else the first.
func TestTakes(t *testing.T) {
	routes := routesOfTwoProjects()
	for name, tt := range map[string]struct {
		own     string
		project ObjectID
		repo    string
		label   string
		want    string
	}{
		"its own route, whatever the filter":    {"bugs", "one", "acme/web", "other", "bugs"},
		"another one of the project":            {"gone", "one", "acme/web", "bug", "bugs"},
		"though its filter does not take it":    {"gone", "one", "acme/web", "task", "bugs"},
		"none of another project":               {"gone", "two", "acme/api", "task", ""},
		"the project's only one":                {"gone", "two", "acme/web", "bug", "web"},
		"no route for the repository":           {"web", "two", "beta/web", "task", ""},
		"its own route is for another one only": {"bugs", "one", "acme/api", "bug", "rest"},
	} {
		t.Run(name, func(t *testing.T) {
			r := routes.Takes(&Link{Route: tt.own, Project: tt.project}, &Issue{Repo: tt.repo, Labels: []string{tt.label}}, LabelScheme{Prefix: "plan:"})
			if r == nil && tt.want != "" || r != nil && r.Name != tt.want {
				t.Errorf("%+v, want %q", r, tt.want)
			}
		})
	}
}

// TestForBucket: new cards become issues by the first route of the project that has the bucket
// and makes issues.
func TestForBucket(t *testing.T) {
	routes := routesOfTwoProjects()
	for _, tt := range []struct {
		project ObjectID
		title   string
		want    string
	}{
		{"two", "Incoming", "web"}, {"one", "Rest", "rest"}, {"one", "Bugs", ""}, {"one", "Incoming", ""}, {"three", "Rest", ""},
	} {
		r := routes.ForBucket(tt.project, tt.title)
		if r == nil && tt.want != "" || r != nil && r.Name != tt.want {
			t.Errorf("%s of %s: %+v, want %q", tt.title, tt.project, r, tt.want)
		}
	}
}

// TestOrderOfRoutes: exact routes come before globs, and both in the order of the file.
func TestOrderOfRoutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOf(rapid.Bool()).Draw(t, "exact")
		var file []Route
		for i, exact := range kinds {
			r := Route{Name: string(rune('a' + i%26)), TasksPerCard: i, Repositories: []string{"acme/*"}}
			if exact {
				r.Repositories = []string{"acme/web"}
			}
			file = append(file, r)
		}
		all := NewRoutes(file).All()
		if len(all) != len(file) {
			t.Fatalf("%d routes of %d", len(all), len(file))
		}
		for i := 1; i < len(all); i++ {
			was, is := all[i-1], all[i]
			if !was.Exact() && is.Exact() || was.Exact() == is.Exact() && was.TasksPerCard > is.TasksPerCard {
				t.Fatalf("%d comes after %d", is.TasksPerCard, was.TasksPerCard)
			}
		}
		for i, exact := range kinds {
			if file[i].Exact() != exact || file[i].TasksPerCard != i {
				t.Fatal("the configuration was changed")
			}
		}
	})
}

// TestANameBeatsAGlob: where any route names a repository, no glob is asked, and else every
// route that matches is.
func TestANameBeatsAGlob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		repos := []string{"acme/web", "acme/api", "beta/web"}
		own := rapid.SliceOfNDistinct(rapid.SampledFrom(append(slices.Clone(repos), "acme/*", "*/web", "beta/?eb")), 1, 3, rapid.ID[string])
		var file []Route
		for range rapid.IntRange(0, 5).Draw(t, "routes") {
			file = append(file, Route{Repositories: own.Draw(t, "repositories")})
		}
		routes := NewRoutes(file)
		for _, repo := range repos {
			named := slices.ContainsFunc(file, func(r Route) bool { return r.Names(repo) })
			got := routes.ForRepo(repo)
			for _, r := range got {
				if !r.MatchesRepo(repo) || r.Names(repo) != named {
					t.Fatalf("%s is asked of %v; named: %v", repo, r.Repositories, named)
				}
			}
			want := 0
			for i := range file {
				if file[i].Names(repo) || !named && file[i].MatchesRepo(repo) {
					want++
				}
			}
			if len(got) != want {
				t.Fatalf("%s: %d routes, want %d", repo, len(got), want)
			}
		}
	})
}

// TestRoutesOfAProject: they keep the order in which they take issues, and those of other
// projects are left out.
func TestRoutesOfAProject(t *testing.T) {
	routes := NewRoutes([]Route{
		{Name: "glob", Repositories: []string{"octo/*"}, Project: "a"},
		{Name: "second", Repositories: []string{"octo/web"}, Project: "a"},
		{Name: "other", Repositories: []string{"octo/api"}, Project: "b"},
	})
	names := func(project ObjectID) (out []string) {
		for _, r := range routes.In(project) {
			out = append(out, r.Name)
		}
		return out
	}
	for project, want := range map[ObjectID][]string{"a": {"second", "glob"}, "b": {"other"}, "c": nil} {
		if got := names(project); !slices.Equal(got, want) {
			t.Errorf("project %s has routes %q, want %q", project, got, want)
		}
	}
	if all := routes.All(); len(all) != 3 || all[0].Name != "second" {
		t.Errorf("asking for one project's changed them all: %d, the first is %s", len(all), all[0].Name)
	}
}

// TestBucketsOfARoute: its own comes first, and each is listed once.
func TestBucketsOfARoute(t *testing.T) {
	r := Route{Bucket: "Inbox", BucketByLabel: []LabelBucket{{"bug", "Bugs"}, {"chore", "Inbox"}, {"crash", "Bugs"}, {"idea", "Later"}}}
	if got, want := r.Buckets(), []string{"Inbox", "Bugs", "Later"}; !slices.Equal(got, want) {
		t.Errorf("buckets are %q, want %q", got, want)
	}
	for _, b := range r.Buckets() {
		if !r.OwnsBucket(b) {
			t.Errorf("the route lists %q and does not own it", b)
		}
	}
}

// TestTasksOfARoute: sub-issues and checklist items are tasks of the card, where the route says so.
func TestTasksOfARoute(t *testing.T) {
	for tasks, want := range map[string]bool{TasksSubIssues: true, TasksChecklist: true, TasksNone: false, "": false} {
		if got := (&Route{Tasks: tasks}).HasTasks(); got != want {
			t.Errorf("tasks: %q: %v", tasks, got)
		}
	}
}

// TestExactRoutesComeFirst: a route that names its repositories is asked before one with a glob,
// and else the order of the file holds.
func TestExactRoutesComeFirst(t *testing.T) {
	var routes []Route
	for _, name := range []string{"a/*", "b/x", "c/*", "d/x", "e/*", "f/x"} {
		routes = append(routes, Route{Name: name, Repositories: []string{name}})
	}
	routes = append(routes, Route{Name: "g", Repositories: []string{"g/x", "g/*"}}, Route{Name: "h/x", Repositories: []string{"h/x", "h/y"}})
	var got []string
	for _, r := range NewRoutes(routes).All() {
		got = append(got, r.Name)
	}
	if want := []string{"b/x", "d/x", "f/x", "h/x", "a/*", "c/*", "e/*", "g"}; !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
}
