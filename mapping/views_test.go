package mapping

import (
	"maps"
	"slices"
	"testing"
	"time"
)

// TestViewsOfItems: a card shows what it has, a task of its own all attributes, and a tracking
// task its issue's state alone.
func TestViewsOfItems(t *testing.T) {
	keys := NewKeys([]byte("key"))
	marked := keys.AppendFooter("text", Marker{Kind: MarkIssue, Link: "link", Nonce: "nonce"}, "acme/web", 12, "https://github.com/acme/web/issues/12")
	card := &Card{Title: Versioned{"title", 1}, Summary: Versioned{marked, 2}, Estimate: Versioned{"3", 3}}
	task := &Task{Title: Versioned{"title", 1}, Summary: Versioned{marked, 2}, Estimate: Versioned{"3", 3}, State: Versioned{"done", 4}}
	for name, tt := range map[string]struct{ got, want View }{
		"a card":                {CardView(card, keys), View{Title: {"title", 1}, Summary: {"text", 2}, Estimate: {"3", 3}}},
		"a card as it is":       {card.Values(), View{Title: {"title", 1}, Summary: {marked, 2}, Estimate: {"3", 3}}},
		"a task of a sub-issue": {TaskItemView(task, keys), View{Title: {"title", 1}, Summary: {"text", 2}, Estimate: {"3", 3}, State: {"done", 4}}},
		"a tracking task":       {TaskView(task), View{State: {"done", 4}}},
	} {
		if !maps.Equal(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", name, tt.got, tt.want)
		}
	}
	view := task.Values()
	view.Untrack()
	if _, has := view[State]; has || len(view) != 3 {
		t.Errorf("without what the tracking task carries: %v", view)
	}
	if got := view.VersionOr(Title, 9); got != 1 {
		t.Errorf("the title has version %d", got)
	}
	if got := view.VersionOr(State, 9); got != 9 {
		t.Errorf("what is not shown has version %d", got)
	}
}

// TestSuspicious: a value that changed under an old version is read again before it is believed.
func TestSuspicious(t *testing.T) {
	base := map[Attribute]Base{Title: {GitHub: "title", Planning: "title", Version: 3}, Summary: {Planning: "text", Version: 2}}
	for name, tt := range map[string]struct {
		view View
		want bool
	}{
		"as agreed":                   {View{Title: {"title", 3}}, false},
		"another value, a newer one":  {View{Title: {"other", 4}}, false},
		"another value, the same":     {View{Title: {"other", 3}}, true},
		"another value, an older one": {View{Title: {"other", 2}}, true},
		"white space is no change":    {View{Summary: {"text \r\n", 2}}, false},
		"never agreed on":             {View{Estimate: {"3", 0}}, false},
		"one of several":              {View{Title: {"title", 3}, Summary: {"other", 2}}, true},
		"nothing is shown":            {View{}, false},
	} {
		if got := Suspicious(base, tt.view); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestPlanWrites: a plan writes where any of its decisions does.
func TestPlanWrites(t *testing.T) {
	toPlanning, toGitHub := Decision{Planning: &Write{}}, Decision{GitHub: &Write{}}
	for name, tt := range map[string]struct {
		plan             Plan
		planning, github bool
	}{
		"no decision":       {Plan{}, false, false},
		"one that agrees":   {Plan{[]Decision{{}}}, false, false},
		"to planning":       {Plan{[]Decision{{}, toPlanning}}, true, false},
		"to GitHub":         {Plan{[]Decision{toGitHub, {}}}, false, true},
		"different to each": {Plan{[]Decision{toGitHub, toPlanning}}, true, true},
	} {
		if p, g := tt.plan.Writes(Planning), tt.plan.Writes(GitHub); p != tt.planning || g != tt.github {
			t.Errorf("%s: planning %v, GitHub %v", name, p, g)
		}
	}
}

// TestRouteWrites: a one-way route leaves the side alone that it comes from.
func TestRouteWrites(t *testing.T) {
	for direction, want := range map[Direction][]Side{
		Both: {GitHub, Planning}, ToPlanning: {Planning}, ToGitHub: {GitHub}, "": {GitHub, Planning},
	} {
		r := Route{Direction: direction}
		var got []Side
		for _, side := range []Side{GitHub, Planning} {
			if r.Writes(side) {
				got = append(got, side)
			}
			if side.Other().Other() != side || side.Other() == side {
				t.Errorf("the other side of %s is %s", side, side.Other())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q writes %v, want %v", direction, got, want)
		}
	}
}

// TestJoinedPair: two items of people are as good as not linked until no other project can have
// a partner of the issue.
func TestJoinedPair(t *testing.T) {
	r := Route{Name: "web", Project: "project"}
	issue := &Issue{ID: 7, NodeID: "I_7", Repo: "acme/web", RepoID: 3, Number: 12, Author: "octocat", CreatedAt: noon, UpdatedAt: noon.Add(time.Hour)}
	l := r.JoinIssue(issue, CardID{ID: "card"}, noon)
	if !l.Joined() || l.State != Creating || l.Intent.Nonce != l.Nonce || l.Intent.Sent || len(l.Base) != 0 {
		t.Errorf("joined: %+v", l)
	}
	if want := (IssueID{ID: 7, NodeID: "I_7", Repo: "acme/web", RepoID: 3, Number: 12, Author: "octocat", Born: noon}); l.Issue != want || NameIssue(issue) != want {
		t.Errorf("the issue is named %+v", l.Issue)
	}
	for name, change := range map[string]func(*Link){
		"it is linked":              func(l *Link) { l.State = Linked },
		"nothing is to be made":     func(l *Link) { l.Intent = nil },
		"an issue is to be made":    func(l *Link) { l.Intent = &Intent{Side: GitHub} },
		"its card is not there yet": func(l *Link) { l.Card.ID = "" },
	} {
		l := r.JoinIssue(issue, CardID{ID: "card"}, noon)
		if change(l); l.Joined() {
			t.Errorf("%s, and the pair is joined", name)
		}
	}
}

// TestRefsOfItems: a reference tells what it is and which.
func TestRefsOfItems(t *testing.T) {
	for ref, want := range map[Ref][2]string{
		IssueRef(12): {"issue", "12"}, CardRef("5447"): {"card", "5447"}, TaskRef("a:b"): {"task", "a:b"}, "": {"", ""}, "nonce": {"nonce", ""},
	} {
		if ref.Kind() != want[0] || ref.ID() != want[1] {
			t.Errorf("%q is %q %q", ref, ref.Kind(), ref.ID())
		}
	}
}

// TestUntriaged: an issue that anybody labelled, assigned or touched is not as it was opened.
func TestUntriaged(t *testing.T) {
	for name, tt := range map[string]struct {
		issue Issue
		want  bool
	}{
		"as it was opened":           {Issue{CreatedAt: noon, UpdatedAt: noon}, true},
		"touched since":              {Issue{CreatedAt: noon, UpdatedAt: noon.Add(time.Second)}, false},
		"with a label":               {Issue{CreatedAt: noon, UpdatedAt: noon, Labels: []string{"bug"}}, false},
		"with an assignee":           {Issue{CreatedAt: noon, UpdatedAt: noon, Assignees: []string{"alice"}}, false},
		"when it was is not told of": {Issue{}, true},
	} {
		if got := tt.issue.Untriaged(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestMilestoneMark is the last comment of a description, and what follows it.
func TestMilestoneMark(t *testing.T) {
	for description, want := range map[string]string{
		"": "", "text": "", "text\n\n<!-- mark -->": "<!-- mark -->", "<!-- a --> text <!-- b -->": "<!-- b -->", "cut <!-- off": "<!-- off", "no <! -- one": "",
	} {
		if got := MilestoneMark(description); got != want {
			t.Errorf("%q: %q, want %q", description, got, want)
		}
	}
}

// TestShowsSprint: a milestone shows a sprint where the bridge signed it, and nobody else.
func TestShowsSprint(t *testing.T) {
	keys, other := NewKeys([]byte("key")), NewKeys([]byte("another key"))
	sprint := Sprint{ID: "54744060c955ca8169c61ee6", Title: "Sprint 1"}
	made, write := ProjectMilestone(sprint, nil, keys)
	if !write {
		t.Fatal("a sprint without a milestone gets none")
	}
	issue := &Issue{MilestoneMark: MilestoneMark(made.Description)}
	if !ShowsSprint(issue, keys) {
		t.Errorf("the bridge's own milestone shows no sprint: %q", made.Description)
	}
	if ShowsSprint(issue, other) || ShowsSprint(&Issue{}, keys) {
		t.Error("a milestone of somebody else shows a sprint")
	}
}
