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
