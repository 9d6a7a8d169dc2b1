package webhook_test

import (
	"context"
	"testing"
	"time"

	"planbridge/bridge/webhook"
	"planbridge/mapping"
	"planbridge/store"
)

// TestOwnIssueOfRoutePointedElsewhere: the store is lost, and the route was pointed at another
// project. The pair of an issue of ours is made again in the project that has its card.
func TestOwnIssueOfRoutePointedElsewhere(t *testing.T) {
	w := newWorld(t, func(o *options) {
		o.Routes = func() mapping.Routes {
			return mapping.NewRoutes([]mapping.Route{route("web", "acme/web", apps)}, mapping.PlanningProject{ID: web})
		}
	})
	mark := mapping.Marker{Kind: mapping.MarkIssue, Link: "00000000000000aa", Nonce: mapping.NonceIn(web, "00000000000000bb"), Partner: "5447406088d6f6a94d0001e4"}
	w.deliver("edited", issue(1, func(i *mapping.Issue) { i.Author, i.Body = bot, keys.AppendComment("A body", mark) }), "stored")
	if its, others := w.links(web), w.links(apps); len(its) != 1 || its[0].Card.ID != "5447406088d6f6a94d0001e4" || len(others) > 0 {
		t.Errorf("the links are %+v in its project and %+v in the other", its, others)
	}
}

// TestSeveralProjects: one issue has one link, in whichever project it was
// taken first.
func TestSeveralProjects(t *testing.T) {
	bugs := route("bugs", "acme/web", apps)
	bugs.Labels = []string{"bug"}
	rest := route("rest", "acme/web", web)
	w := newWorld(t, func(o *options) { o.Routes = routes(bugs, rest) })
	w.deliver("opened", issue(1), "stored")
	l := w.onlyLink(web)
	w.deliver("labeled", issue(1, func(i *mapping.Issue) { i.Labels, i.UpdatedAt = []string{"bug"}, edits.Add(time.Second) }), "stored")
	if n := len(w.links(apps)); n != 0 {
		t.Errorf("%d links in the other project", n)
	}
	if got, _ := w.inbox(l, 1); len(got.Labels) != 1 {
		t.Errorf("inbox %+v", got)
	}
	w.deliver("opened", issue(2, func(i *mapping.Issue) { i.Labels = []string{"bug"} }), "stored")
	if l := w.onlyLink(apps); l.Issue.ID != 2 || l.Route != "bugs" {
		t.Errorf("link %+v", l)
	}
	w.deliver("closed", issue(3, func(i *mapping.Issue) { i.State = "closed" }), "ignored")
}

// TestRouteThatMoved: a route pointed to another project keeps its links where
// they are.
func TestRouteThatMoved(t *testing.T) {
	current := []mapping.Route{route("web", "acme/web", web)}
	w := newWorld(t, func(o *options) {
		o.Routes = func() mapping.Routes { return mapping.NewRoutes(current) }
	})
	w.deliver("opened", issue(1), "stored")
	current = []mapping.Route{route("web", "acme/web", apps), route("other", "acme/other", web)}
	w.deliver("edited", issue(1, func(i *mapping.Issue) { i.UpdatedAt = edits.Add(time.Second) }), "stored")
	if n := len(w.links(apps)); n != 0 {
		t.Errorf("%d links in the new project", n)
	}
	w.onlyLink(web)
}

// TestProjectThatIsNotNamed: the configuration does not name the project of a link any more,
// and its repository's route leads to another one. The issue makes no second link.
func TestProjectThatIsNotNamed(t *testing.T) {
	for _, later := range [][]mapping.Route{
		{route("web", "acme/web", apps)},
		{route("web", "acme/web", apps), route("too", "acme/web", "54744060c955ca8169c61ee8")},
		{route("other", "acme/other", apps)},
	} {
		current := []mapping.Route{route("web", "acme/web", web)}
		w := newWorld(t, func(o *options) {
			o.Routes = func() mapping.Routes { return mapping.NewRoutes(current) }
		})
		w.deliver("opened", issue(1), "stored")
		current = later
		w.deliver("edited", issue(1, func(i *mapping.Issue) { i.UpdatedAt = edits.Add(time.Second) }), "stored")
		if n := len(w.links(apps)) + len(w.links("54744060c955ca8169c61ee8")); n != 0 {
			t.Errorf("%d links in the projects of %v", n, later)
		}
		w.onlyLink(web)
	}
}

// elsewhere is a store that finds each issue in one project, whose link is gone
// by the time it is observed.
type elsewhere struct{ webhook.Store }

func (elsewhere) Find(_ context.Context, project mapping.ObjectID, _ mapping.Ref) (mapping.LinkID, error) {
	if project == apps {
		return "0000000000000001", nil
	}
	return "", store.ErrNotFound
}

func (elsewhere) Projects(context.Context) ([]mapping.ObjectID, error) {
	return []mapping.ObjectID{apps}, nil
}
