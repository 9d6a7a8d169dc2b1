package mapping

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestRouteChanges(t *testing.T) {
	before := NewRoutes([]Route{{Name: "web", Bucket: "A"}, {Name: "api", Labels: []string{}}, {Name: "old"}})
	after := NewRoutes([]Route{{Name: "api"}, {Name: "web", Bucket: "B", CreateIssues: true}, {Name: "new"}})
	c := before.ChangesTo(after)
	if got := c.String(); got != "added new; removed old; changed web (bucket, create_issues)" {
		t.Error(got)
	}
	var many []Route
	for _, name := range "lkjihgfedcba" {
		many = append(many, Route{Name: string(name)})
	}
	c = NewRoutes(many).ChangesTo(NewRoutes(nil))
	if got := c.String(); got != "removed a, b, c, d, e, f, g, h, i, j, 2 more" {
		t.Error(got)
	}
	if c := before.ChangesTo(before); !c.None() || c.String() != "" {
		t.Errorf("%+v", c)
	}
}

// TestRouteChangesNameKeys: an operator can look each changed key up. A project that is called
// otherwise is one change with the project that it stands for.
func TestRouteChangesNameKeys(t *testing.T) {
	schema, err := os.ReadFile("../deploy/planbridge.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for field := range reflect.TypeFor[Route]().Fields() {
		if field.Name == "ID" {
			continue // no key of the configuration
		}
		var changed Route
		switch v := reflect.ValueOf(&changed).Elem().FieldByIndex(field.Index); v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int:
			v.SetInt(1)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		default:
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf(Title), reflect.ValueOf(PolicyAsk))
		}
		keys := new(Route).differences(&changed)
		if len(keys) != 1 || !strings.Contains(string(schema), `"`+keys[0]+`": {`) {
			t.Errorf("%s is told as %q, which is no key", field.Name, keys)
		}
	}
	web, site := Route{Repositories: []string{"acme/web"}, NewCardsIn: "acme/web"}, Route{Repositories: []string{"acme/site"}, NewCardsIn: "acme/site"}
	if keys := strings.Join(web.differences(&site), " "); keys != "repository" {
		t.Errorf("a route of another repository changed: %s", keys)
	}
	before := Route{Project: "p1", ProjectName: "web", DefaultPolicy: PolicyMerge}
	after := Route{Project: "p2", ProjectName: "api", DefaultPolicy: PolicyAsk, Policies: map[Attribute]Policy{Title: PolicyMerge}}
	if keys := strings.Join(before.differences(&after), " "); keys != "project conflicts" {
		t.Errorf("changed: %s", keys)
	}
}

// TestRouteChangesAreSorted: people read names in their order, and of more than ten the first ten.
func TestRouteChangesAreSorted(t *testing.T) {
	routes := func(names, bucket string) Routes {
		var list []Route
		for _, name := range names {
			list = append(list, Route{Name: string(name), Bucket: bucket})
		}
		return NewRoutes(list)
	}
	for name, tt := range map[string]struct {
		before, after Routes
		want          string
	}{
		"added":         {routes("", ""), routes("cab", ""), "added a, b, c"},
		"removed":       {routes("cab", ""), routes("", ""), "removed a, b, c"},
		"changed":       {routes("cab", "A"), routes("abc", "B"), "changed a (bucket), b (bucket), c (bucket)"},
		"another order": {routes("cab", "A"), routes("abc", "A"), ""},
		"ten":           {routes("", ""), routes("jihgfedcba", ""), "added a, b, c, d, e, f, g, h, i, j"},
		"eleven":        {routes("", ""), routes("kjihgfedcba", ""), "added a, b, c, d, e, f, g, h, i, j, 1 more"},
		"all three":     {routes("ab", "A"), routes("bc", "B"), "added c; removed a; changed b (bucket)"},
	} {
		c := tt.before.ChangesTo(tt.after)
		if got := c.String(); got != tt.want || c.None() != (tt.want == "") {
			t.Errorf("%s: %q, none %v", name, got, c.None())
		}
	}
}

// TestEmptyListsAreNone: a list or table without entries says what none says.
func TestEmptyListsAreNone(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b Route
		want string
	}{
		"no labels":             {Route{Labels: []string{}}, Route{}, ""},
		"no policies":           {Route{Policies: map[Attribute]Policy{}}, Route{}, ""},
		"labels against none":   {Route{Labels: []string{"bug"}}, Route{}, "labels"},
		"none against labels":   {Route{}, Route{Labels: []string{"bug"}}, "labels"},
		"a policy against none": {Route{}, Route{Policies: map[Attribute]Policy{Title: PolicyAsk}}, "conflicts"},
		"other labels":          {Route{Labels: []string{"bug"}}, Route{Labels: []string{"wish"}}, "labels"},
	} {
		if got := strings.Join(tt.a.differences(&tt.b), " "); got != tt.want {
			t.Errorf("%s: %q differ, want %q", name, got, tt.want)
		}
	}
}

// TestRepositoriesByTheirKey: the configuration has a key for one repository, and another one for a
// list. A change is told by the first where the route has one repository before and after it.
func TestRepositoriesByTheirKey(t *testing.T) {
	one, other, list := []string{"acme/web"}, []string{"acme/api"}, []string{"acme/web", "acme/api"}
	for name, tt := range map[string]struct {
		before, after Route
		want          string
	}{
		"one by another":            {Route{Repositories: one}, Route{Repositories: other}, "repository"},
		"one becomes a list":        {Route{Repositories: one}, Route{Repositories: list}, "repositories"},
		"a list becomes one":        {Route{Repositories: list}, Route{Repositories: one}, "repositories"},
		"a list by another":         {Route{Repositories: list}, Route{Repositories: []string{"acme/*", "beta/*"}}, "repositories"},
		"none becomes one":          {Route{}, Route{Repositories: one}, "repositories"},
		"one label of one route":    {Route{Repositories: one, Labels: []string{"a"}}, Route{Repositories: one, Labels: []string{"b"}}, "labels"},
		"a list in another order":   {Route{Repositories: list}, Route{Repositories: []string{"acme/api", "acme/web"}}, "repositories"},
		"one, spelt in other cases": {Route{Repositories: one}, Route{Repositories: []string{"Acme/Web"}}, "repository"},
	} {
		if got := strings.Join(tt.before.differences(&tt.after), " "); got != tt.want {
			t.Errorf("%s: %q differ, want %q", name, got, tt.want)
		}
	}
}

// TestDefaultOfNewCardsIn: the file may leave out where new cards become issues, if the route has
// one repository and they go there. Only such a value on both sides is no change.
func TestDefaultOfNewCardsIn(t *testing.T) {
	route := func(newCardsIn string, repositories ...string) Route {
		return Route{Repositories: repositories, NewCardsIn: newCardsIn}
	}
	for name, tt := range map[string]struct {
		before, after Route
		want          string
	}{
		"its repository, before and after": {route("acme/web", "acme/web"), route("acme/api", "acme/api"), "repository"},
		"elsewhere by now":                 {route("acme/web", "acme/web"), route("acme/api", "acme/web"), "new_cards_in"},
		"elsewhere until now":              {route("acme/api", "acme/web"), route("acme/web", "acme/web"), "new_cards_in"},
		"elsewhere, and there elsewhere":   {route("acme/api", "acme/web"), route("acme/site", "acme/web"), "new_cards_in"},
		"elsewhere, before and after":      {route("acme/api", "acme/web"), route("acme/api", "acme/web"), ""},
		"the first of a list":              {route("acme/web", "acme/web", "acme/api"), route("acme/api", "acme/api", "acme/web"), "repositories new_cards_in"},
		"a list becomes one":               {route("acme/api", "acme/web", "acme/api"), route("acme/web", "acme/web"), "repositories new_cards_in"},
		"no repository":                    {route("acme/api"), route(""), "new_cards_in"},
	} {
		if got := strings.Join(tt.before.differences(&tt.after), " "); got != tt.want {
			t.Errorf("%s: %q differ, want %q", name, got, tt.want)
		}
	}
}
