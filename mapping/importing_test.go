package mapping

import "testing"

// TestImporting has a case for each row of the rule.
func TestImporting(t *testing.T) {
	for name, tt := range map[string]struct {
		issue    func(*Issue)
		route    func(*Route)
		entrance func(*Entrance)
		which    string
		why      string // "": it is imported
	}{
		"old":            {},
		"pull request":   {issue: func(i *Issue) { i.PullRequest = true }, why: "it is a pull request"},
		"closed":         {issue: func(i *Issue) { i.State = "closed" }, why: "it is not open"},
		"closed, of all": {issue: func(i *Issue) { i.State = "closed" }, which: ImportAll},
		"own":            {entrance: func(e *Entrance) { e.Own = true }, why: "the bridge's own account made it"},
		"no route":       {issue: func(i *Issue) { i.Repo = "acme/api" }, why: "no route is for its repository"},
		"ignored":        {issue: func(i *Issue) { i.Labels = []string{"plan:ignore"} }, why: "it has the label plan:ignore"},
		"to GitHub":      {route: func(r *Route) { r.Direction = ToGitHub }},
		"public":         {entrance: func(e *Entrance) { e.Public = true }, why: WhyPublic},
		"public allowed": {entrance: func(e *Entrance) { e.Public = true }, route: func(r *Route) { r.AllowPublic = true }},
	} {
		issue := Issue{ID: 1, Repo: "acme/web", State: "open"}
		route := Route{Name: "web", Repositories: []string{"acme/web"}, Direction: Both}
		e := Entrance{Scheme: LabelScheme{Prefix: "plan:"}}
		if tt.issue != nil {
			tt.issue(&issue)
		}
		if tt.route != nil {
			tt.route(&route)
		}
		if tt.entrance != nil {
			tt.entrance(&e)
		}
		got, why := NewRoutes([]Route{route}).Importing(&issue, e, tt.which)
		if why != tt.why || (got != nil) != (why == "") {
			t.Errorf("%s: %v, %q; want %q", name, got, why, tt.why)
		}
	}
}

func TestWrites(t *testing.T) {
	for d, want := range map[Direction][2]bool{Both: {true, true}, ToPlanning: {true, false}, ToGitHub: {false, true}} {
		r := Route{Direction: d}
		if got := [2]bool{r.Writes(Planning), r.Writes(GitHub)}; got != want {
			t.Errorf("%s writes planning, GitHub: %v, want %v", d, got, want)
		}
	}
}
