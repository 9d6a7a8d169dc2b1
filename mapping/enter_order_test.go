package mapping

import (
	"slices"
	"testing"
	"time"
)

// obstacle is one thing that keeps an issue out, and how it comes about.
type obstacle struct {
	why string
	set func(*Issue, *Route, *Entrance)
}

// obstacles are all of them, in the order in which they are told. Where several hold, people read
// the first.
var obstacles = []obstacle{
	{"it is a pull request", func(i *Issue, _ *Route, _ *Entrance) { i.PullRequest = true }},
	{WhyClosed, func(i *Issue, _ *Route, _ *Entrance) { i.State = "closed" }},
	{"the bridge's own account made it", func(_ *Issue, _ *Route, e *Entrance) { e.Own = true }},
	{"it has the label plan:ignore", func(i *Issue, _ *Route, _ *Entrance) { i.Labels = append(i.Labels, "plan:ignore") }},
	{"it has the excluded label wontplan", func(i *Issue, r *Route, _ *Entrance) {
		i.Labels, r.ExcludeLabels = append(i.Labels, "wontplan"), []string{"wontplan"}
	}},
	{"it has none of the labels bug", func(_ *Issue, r *Route, _ *Entrance) { r.Labels = []string{"bug"} }},
	{"its author is not one of the route's members", func(i *Issue, r *Route, _ *Entrance) { i.Association, r.Authors = "NONE", AuthorsMembers }},
	{"its route only goes to GitHub", func(_ *Issue, r *Route, _ *Entrance) { r.Direction = ToGitHub }},
	{WhyPublic, func(_ *Issue, r *Route, _ *Entrance) { r.AllowPublic = false }},
	{WhyNotKnown, func(_ *Issue, _ *Route, e *Entrance) { e.FirstRuns = began{} }},
	{WhyOlder, func(i *Issue, _ *Route, _ *Entrance) { i.UpdatedAt = firstRun.Add(-time.Second) }},
	{WhyQuarantine, func(i *Issue, r *Route, _ *Entrance) { i.Association, r.Quarantine = "NONE", QuarantineAuto }},
}

// enteringWith is what enters, but for these obstacles.
func enteringWith(these []obstacle) (*Issue, Routes, Entrance) {
	issue := Issue{ID: 1, Repo: "acme/web", State: "open", Association: "MEMBER", UpdatedAt: firstRun}
	route := Route{Name: "web", Repositories: []string{"acme/web"}, Direction: Both, AllowPublic: true}
	e := Entrance{Scheme: LabelScheme{Prefix: "plan:"}, Public: true, FirstRuns: began(firstRun)}
	for _, o := range these {
		o.set(&issue, &route, &e)
	}
	return &issue, NewRoutes([]Route{route}), e
}

// TestFirstObstacleIsTold: of all that keeps an issue out, its people read what comes first in the
// rule; each obstacle alone is told as well.
func TestFirstObstacleIsTold(t *testing.T) {
	t.Parallel()
	if issue, routes, e := enteringWith(nil); true {
		if r, why := routes.Entering(issue, e); r == nil {
			t.Fatalf("without any obstacle it stays out: %s", why)
		}
	}
	for k, first := range obstacles {
		for name, these := range map[string][]obstacle{"alone": {first}, "before all others": obstacles[k:]} {
			issue, routes, e := enteringWith(these)
			if r, why := routes.Entering(issue, e); r != nil || why != first.why {
				t.Errorf("%s, %s: %q", first.why, name, why)
			}
		}
	}
}

// TestFirstObstacleOfAnImport: an import takes issues of a route to GitHub, untouched ones, and
// those from before the route. All other obstacles keep an issue out of it in the same order.
func TestFirstObstacleOfAnImport(t *testing.T) {
	t.Parallel()
	taken := []string{"its route only goes to GitHub", WhyNotKnown, WhyOlder}
	left := slices.DeleteFunc(slices.Clone(obstacles), func(o obstacle) bool { return slices.Contains(taken, o.why) })
	for k, first := range left {
		for name, these := range map[string][]obstacle{"alone": {first}, "before all others": left[k:]} {
			issue, routes, e := enteringWith(these)
			if r, why := routes.Importing(issue, e, ImportOpen); r != nil || why != first.why {
				t.Errorf("%s, %s: %q", first.why, name, why)
			}
			want := first.why
			if first.why == WhyClosed { // an import of all takes it, and the next obstacle counts
				if want = ""; len(these) > 1 {
					want = these[1].why
				}
			}
			if r, why := routes.Importing(issue, e, ImportAll); why != want || (r == nil) != (want != "") {
				t.Errorf("of all issues, %s, %s: %q, want %q", first.why, name, why, want)
			}
		}
	}
	for _, o := range obstacles {
		if slices.Contains(taken, o.why) {
			issue, routes, e := enteringWith([]obstacle{o})
			if r, why := routes.Importing(issue, e, ImportOpen); r == nil {
				t.Errorf("an import leaves out what enters not because %s: %s", o.why, why)
			}
		}
	}
}

// TestFirstFaultIsTold has a row for each record and label with two faults: the first one is told.
func TestFirstFaultIsTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		link Link
		want string
	}{
		"linked, with nothing": {
			Link{Pair: Pair{State: Linked, Intent: &Intent{}}},
			`invariant partners: issue 0 and item "": it is linked and has no issue`,
		},
		"linked, without a card that is being made": {
			Link{Pair: Pair{State: Linked, Issue: IssueID{ID: 1}, Intent: &Intent{}}},
			`invariant partners: issue 1 and item "": it is linked and has no item of planning's`,
		},
		"another pair's issue, item and nonce": {
			Link{Pair: Pair{Issue: IssueID{ID: 1}, Card: CardID{ID: "c"}, Nonce: "n"}, SubLinks: []*Pair{{Kind: SubIssue, Issue: IssueID{ID: 1}, Card: CardID{ID: "c"}, Nonce: "n"}}},
			`invariant items: issue 1 and item "c": another pair has the issue`,
		},
		"another pair's item and nonce": {
			Link{Pair: Pair{Issue: IssueID{ID: 1}, Card: CardID{ID: "c"}, Nonce: "n"}, SubLinks: []*Pair{{Kind: SubIssue, Issue: IssueID{ID: 2}, Card: CardID{ID: "c"}, Nonce: "n"}}},
			`invariant items: issue 2 and item "c": another pair has planning's item`,
		},
		"its partners before another pair's items": {
			Link{Pair: Pair{State: Linked, Card: CardID{ID: "c"}}, Children: []*Pair{{Kind: Tracking, State: Creating, Card: CardID{ID: "c"}}}},
			`invariant partners: issue 0 and item "c": it is linked and has no issue`,
		},
	} {
		if b := tt.link.Broken(); b == nil || b.Error() != tt.want {
			t.Errorf("%s: %v, want %s", name, b, tt.want)
		}
	}
}

// TestRememberedStateCounts: a dormant pair goes back to the state that it kept, whatever it lacks.
func TestRememberedStateCounts(t *testing.T) {
	t.Parallel()
	for _, state := range []LinkState{Entering, Creating, Linked, Left, Orphaned} {
		for name, p := range map[string]Pair{
			"whole": {Issue: IssueID{ID: 1}, Card: CardID{ID: "c"}}, "being made": {Issue: IssueID{ID: 1}, Intent: &Intent{}}, "half": {Issue: IssueID{ID: 1}},
		} {
			p.State, p.Suspended = Dormant, state
			if err := p.Advance(EventRouteBack); err != nil || p.State != state || p.Suspended != "" {
				t.Errorf("%s, %s before: it is %s, remembering %q: %v", name, state, p.State, p.Suspended, err)
			}
		}
	}
}
