package mapping

import (
	"testing"
	"time"
)

var firstRun = time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)

// began is when every route began to run.
type began time.Time

func (b began) FirstRun(string) time.Time { return time.Time(b) }

// beganAt is when each route began to run.
type beganAt map[string]time.Time

func (b beganAt) FirstRun(route string) time.Time { return b[route] }

// TestEntering has a case for each row of the rule's table.
func TestEntering(t *testing.T) {
	for name, tt := range map[string]struct {
		issue    func(*Issue)
		route    func(*Route)
		entrance func(*Entrance)
		why      string // "": it enters
	}{
		"enters":           {},
		"pull request":     {issue: func(i *Issue) { i.PullRequest = true }, why: "it is a pull request"},
		"closed":           {issue: func(i *Issue) { i.State = "closed" }, why: "it is not open"},
		"own":              {entrance: func(e *Entrance) { e.Own = true }, why: "the bridge's own account made it"},
		"no route":         {issue: func(i *Issue) { i.Repo = "acme/api" }, why: "no route is for its repository"},
		"ignored":          {issue: func(i *Issue) { i.Labels = []string{"Plan:Ignore"} }, why: "it has the label plan:ignore"},
		"to GitHub":        {route: func(r *Route) { r.Direction = ToGitHub }, why: "its route only goes to GitHub"},
		"to planning":      {route: func(r *Route) { r.Direction = ToPlanning }},
		"public":           {entrance: func(e *Entrance) { e.Public = true }, why: WhyPublic},
		"public allowed":   {entrance: func(e *Entrance) { e.Public = true }, route: func(r *Route) { r.AllowPublic = true }},
		"first run":        {entrance: func(e *Entrance) { e.FirstRuns = began{} }, why: WhyNotKnown},
		"old":              {issue: func(i *Issue) { i.UpdatedAt = firstRun.Add(-time.Second) }, why: "nobody touched it since its route began to run"},
		"old, touched":     {issue: func(i *Issue) { i.CreatedAt = firstRun.Add(-time.Hour) }},
		"same second":      {issue: func(i *Issue) { i.UpdatedAt = firstRun }},
		"public, and old":  {issue: func(i *Issue) { i.UpdatedAt = firstRun.Add(-1) }, entrance: func(e *Entrance) { e.Public = true }, why: WhyPublic},
		"closed, own, out": {issue: func(i *Issue) { i.State, i.Repo = "closed", "x/y" }, why: "it is not open"},
	} {
		issue := Issue{ID: 1, Repo: "acme/web", State: "open", UpdatedAt: firstRun.Add(time.Hour)}
		route := Route{Name: "web", Repositories: []string{"acme/web"}, Direction: Both}
		e := Entrance{Scheme: LabelScheme{Prefix: "plan:"}, FirstRuns: began(firstRun)}
		if tt.issue != nil {
			tt.issue(&issue)
		}
		if tt.route != nil {
			tt.route(&route)
		}
		if tt.entrance != nil {
			tt.entrance(&e)
		}
		got, why := NewRoutes([]Route{route}).Entering(&issue, e)
		if why != tt.why || (got != nil) != (why == "") {
			t.Errorf("%s: %v, %q; want %q", name, got, why, tt.why)
		}
	}
}

// TestFirstRouteTakesIt: the first route that takes the issue decides, also
// when it then keeps it out.
func TestFirstRouteTakesIt(t *testing.T) {
	routes := NewRoutes([]Route{
		{Name: "a", Repositories: []string{"acme/web"}, Labels: []string{"bug"}, Direction: ToGitHub},
		{Name: "b", Repositories: []string{"acme/web"}, Direction: Both},
	})
	e := Entrance{FirstRuns: began(firstRun)}
	issue := Issue{Repo: "acme/web", State: "open", UpdatedAt: firstRun.Add(1)}
	if r, _ := routes.Entering(&issue, e); r == nil || r.Name != "b" {
		t.Errorf("route %+v", r)
	}
	issue.Labels = []string{"bug"}
	if r, why := routes.Entering(&issue, e); r != nil {
		t.Errorf("route %+v, %q", r, why)
	}
}

// TestEachRouteHasItsFirstRun: the beginning of the route that takes the issue counts.
func TestEachRouteHasItsFirstRun(t *testing.T) {
	e := Entrance{FirstRuns: beganAt{"old": firstRun.Add(-time.Hour), "new": firstRun.Add(time.Hour)}}
	routes := NewRoutes([]Route{
		{ID: "new", Name: "old", Repositories: []string{"acme/web"}, Direction: Both},
		{ID: "old", Name: "new", Repositories: []string{"acme/api"}, Direction: Both},
		{ID: "old", Name: "newest", Repositories: []string{"acme/site"}, Direction: Both},
	})
	for repo, want := range map[string]string{"acme/web": "", "acme/api": WhyOlder, "acme/site": WhyNotKnown} {
		if r, why := routes.Entering(&Issue{ID: 1, Repo: repo, State: "open", UpdatedAt: firstRun}, e); why != want || (r != nil) != (want == "") {
			t.Errorf("%s: it enters by %q: %q, want %q", repo, nameOf(r), why, want)
		}
	}
}

func TestMakesIssues(t *testing.T) {
	for want, routes := range map[bool][]Route{
		true: {
			{Repositories: []string{"acme/web"}, NewCardsIn: "acme/web", CreateIssues: true, Direction: Both},
			{Repositories: []string{"acme/web"}, NewCardsIn: "acme/web", CreateIssues: true, Direction: ToGitHub},
		},
		false: {
			{Repositories: []string{"acme/web"}, NewCardsIn: "acme/web", Direction: Both},
			{Repositories: []string{"acme/web"}, NewCardsIn: "acme/web", CreateIssues: true, Direction: ToPlanning},
			{Repositories: []string{"acme/*"}, CreateIssues: true, Direction: Both},
		},
	} {
		for _, r := range routes {
			if r.MakesIssues() != want {
				t.Errorf("%+v: %v", r, !want)
			}
		}
	}
}

func TestEnteringLinks(t *testing.T) {
	r := &Route{Name: "web", Project: "p", Repositories: []string{"acme/web"}}
	issue := &Issue{ID: 5, NodeID: "n", Repo: "acme/web", RepoID: 6, Number: 7, Author: "octocat", UpdatedAt: firstRun}
	card := &Card{ID: "c", CID: 8, Bucket: "b", BucketName: "Incoming", Version: 9}

	l := r.EnterIssue(issue, firstRun)
	if l.State != Entering || l.Origin != GitHub || l.Project != "p" || l.Route != "web" || len(l.Nonce) != 16+1+12 || len(l.ID) != 16 ||
		l.Issue != (IssueID{ID: 5, NodeID: "n", Repo: "acme/web", RepoID: 6, Number: 7, Author: "octocat"}) || l.Card != (CardID{}) {
		t.Errorf("EnterIssue: %+v", l)
	}
	if again := r.EnterIssue(issue, firstRun); again.ID == l.ID || again.Nonce == l.Nonce {
		t.Error("two links of one id or nonce")
	}
	l = r.EnterCard(card, firstRun)
	if l.State != Entering || l.Origin != Planning || l.Issue != (IssueID{}) ||
		l.Card != (CardID{ID: "c", CID: 8, Bucket: "b", BucketName: "Incoming"}) || !l.Created.Equal(firstRun) {
		t.Errorf("EnterCard: %+v", l)
	}
	l = r.RebuildFromIssue(issue, Marker{Kind: MarkIssue, Link: "l", Nonce: "n", Partner: "c"}, firstRun)
	if l.State != Linked || l.Origin != Planning || l.ID != "l" || l.Nonce != "n" || l.Card.ID != "c" || l.Issue.ID != 5 {
		t.Errorf("RebuildFromIssue: %+v", l)
	}
	l = r.RebuildFromCard(card, Marker{Kind: MarkCard, Link: "l", Nonce: "n", Partner: "5"}, "acme/web", 7, firstRun)
	if l.State != Linked || l.Origin != GitHub || l.ID != "l" || l.Card.ID != "c" || l.Issue != (IssueID{ID: 5, Repo: "acme/web", Number: 7}) {
		t.Errorf("RebuildFromCard: %+v", l)
	}
	for _, partner := range []string{"", "x", "-1", "0", "99999999999999999999"} {
		if l := r.RebuildFromCard(card, Marker{Partner: partner}, "acme/web", 7, firstRun); l != nil {
			t.Errorf("partner %q: %+v", partner, l)
		}
	}
}

// TestLasted: an issue that was closed within the delay was a mistake.
func TestLasted(t *testing.T) {
	at := func(s int) time.Time { return firstRun.Add(time.Duration(s) * time.Second) }
	for name, tt := range map[string]struct {
		issue Issue
		want  bool
	}{
		"open":                          {Issue{State: "open", UpdatedAt: at(1)}, true},
		"closed later":                  {Issue{State: "closed", ClosedAt: at(3), UpdatedAt: at(3)}, true},
		"closed within the delay":       {Issue{State: "closed", ClosedAt: at(2), UpdatedAt: at(2)}, false},
		"closed at once, touched later": {Issue{State: "closed", ClosedAt: at(1), UpdatedAt: at(60)}, false},
		"closed, not told when":         {Issue{State: "closed", UpdatedAt: at(3)}, true},
		"closed at once, not told when": {Issue{State: "closed", UpdatedAt: at(1)}, false},
	} {
		tt.issue.CreatedAt = at(0)
		if got := tt.issue.Lasted(2 * time.Second); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestRebuiltLinks: a link that is rebuilt from a marker belongs to the route and project that
// found it. It is dated, and has the items that the marker names.
func TestRebuiltLinks(t *testing.T) {
	r := &Route{Name: "web", Project: "p"}
	issue := &Issue{ID: 5, NodeID: "I_5", Repo: "acme/web", RepoID: 2, Number: 7, Author: "octocat", CreatedAt: firstRun}
	card := &Card{ID: "c", CID: 8, Bucket: "b", BucketName: "Incoming", StateID: "s"}
	for name, tt := range map[string]struct {
		link  *Link
		issue IssueID
		card  CardID
	}{
		"from an issue": {
			r.RebuildFromIssue(issue, Marker{Kind: MarkIssue, Link: "l", Nonce: "n", Partner: "c"}, firstRun), NameIssue(issue), CardID{ID: "c"},
		},
		"from a card": {
			r.RebuildFromCard(card, Marker{Kind: MarkCard, Link: "l", Nonce: "n", Partner: "5"}, "acme/web", 7, firstRun),
			IssueID{ID: 5, Repo: "acme/web", Number: 7},
			NameCard(card),
		},
		"from a card of the first issue": {
			r.RebuildFromCard(card, Marker{Kind: MarkCard, Link: "l", Nonce: "n", Partner: "1"}, "acme/web", 7, firstRun),
			IssueID{ID: 1, Repo: "acme/web", Number: 7},
			NameCard(card),
		},
		"from a card of the last issue": {
			r.RebuildFromCard(card, Marker{Kind: MarkCard, Link: "l", Nonce: "n", Partner: "9223372036854775807"}, "acme/web", 7, firstRun),
			IssueID{ID: 1<<63 - 1, Repo: "acme/web", Number: 7},
			NameCard(card),
		},
	} {
		l := tt.link
		if l.ID != "l" || l.Project != "p" || l.Route != "web" || l.Nonce != "n" || l.State != Linked || !l.Created.Equal(firstRun) || len(l.Base) != 0 {
			t.Errorf("%s: %+v", name, l)
		}
		if l.Issue != tt.issue || l.Card != tt.card {
			t.Errorf("%s: the items are %+v and %+v", name, l.Issue, l.Card)
		}
	}
	if l := r.RebuildFromCard(card, Marker{Partner: "0x5"}, "acme/web", 7, firstRun); l != nil {
		t.Errorf("a partner that is no decimal number gives %+v", l)
	}
}

// TestJoinedLinkSaysWhenAndWhere: the card of a joined pair is as good as not made since the
// moment in which an operator joined it.
func TestJoinedLinkSaysWhenAndWhere(t *testing.T) {
	l := (&Route{Name: "web", Project: "p"}).JoinIssue(&Issue{ID: 5}, CardID{ID: "c"}, firstRun)
	if l.Origin != GitHub || l.Intent.Side != Planning || !l.Intent.At.Equal(firstRun) || !l.Created.Equal(firstRun) || l.Project != "p" || l.Route != "web" {
		t.Errorf("joined: %+v, %+v", l, l.Intent)
	}
}
