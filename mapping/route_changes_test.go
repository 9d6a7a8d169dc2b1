package mapping

import "testing"

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
