package mapping

import "testing"

// TestLentRoute: a lent route for links without a route writes to both sides, with any username of
// the route, and makes nothing.
func TestLentRoute(t *testing.T) {
	rs := NewRoutes([]Route{{Name: "other", Project: "q"}, {
		Name: "web", Repositories: []string{"acme/web"}, Project: "p", Username: "bridge", Direction: ToGitHub,
		CreateIssues: true, Tasks: TasksChecklist, TrackingTask: true, AllowPublic: true, Images: InlineImages, ProjectName: "Web",
	}})
	r := rs.Lend("p")
	if r == nil || !r.Writes(GitHub) || !r.Writes(Planning) || r.HasTasks() || r.TrackingTask || r.MakesIssues() || r.AllowPublic {
		t.Errorf("lent: %+v", r)
	}
	if r.MatchesRepo("acme/web") || r.Username != "bridge" || r.Images != InlineImages || r.Project != "p" || r.ProjectName != "Web" {
		t.Errorf("lent: %+v", r)
	}
	if r.Name != "taken apart" || r.Direction != Both || r.Tasks != TasksNone {
		t.Errorf("people read that it goes by %+v", r)
	}
	if r := rs.Lend("none"); r != nil {
		t.Errorf("lent for a project to which no route leads: %+v", r)
	}
}

// TestLentRouteOfAProjectWithoutRoutes: links are worked a last time in the name that the project
// is written in.
func TestLentRouteOfAProjectWithoutRoutes(t *testing.T) {
	rs := NewRoutes([]Route{{Name: "other", Project: "q"}}, PlanningProject{ID: "p", Name: "Web", Username: "bridge"})
	r := rs.Lend("p")
	if r == nil || r.Project != "p" || r.ProjectName != "Web" || r.Username != "bridge" || !r.Writes(GitHub) || !r.Writes(Planning) || r.HasTasks() {
		t.Errorf("lent: %+v", r)
	}
}
