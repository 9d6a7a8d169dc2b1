package reconcile

import (
	"fmt"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// pointedTo has the link's route lead to another project, with changes.
func pointedTo(change ...func(*mapping.Route)) func(*Settings) {
	return func(s *Settings) {
		r := mapping.Route{Name: "web", Project: "q", ProjectName: "Q", Repositories: []string{"acme/web"}, Bucket: "New", Direction: mapping.Both}
		for _, f := range change {
			f(&r)
		}
		s.Routes = mapping.NewRoutes([]mapping.Route{r}, mapping.PlanningProject{ID: "p", Name: "P", Username: "robot"}, mapping.PlanningProject{ID: "q", Name: "Q"})
	}
}

// byOwnRoute has a pair go by the route that its record names.
func byOwnRoute(w work) { w.route = w.set.Routes.ByName(w.link.Route) }

func moving(l *mapping.Link) { l.Moving = &mapping.Moving{} }

// refusedOf has a side refuse an attribute of a pair.
func refusedOf(p *mapping.Pair, a mapping.Attribute, side mapping.Side) {
	p.Refused = map[mapping.Attribute]mapping.Refusal{a: {Side: side, Value: "v", Message: "too long"}}
}

// TestDepart: an issue moves to another project once nothing keeps it.
func TestDepart(t *testing.T) {
	rule := does(relocator.depart)
	card := func(summary string) func(work) {
		return func(w work) { w.card = &mapping.Card{ID: "c", Summary: versioned(summary, 3)} }
	}
	have := func(changes ...func(*mapping.Issue)) func(work) { return knows(unchanged(changes...), card("text")) }
	none := func() map[string]any { return map[string]any{"ReadTasks": []mapping.Task{}} }
	twice := []string{"ReadTasks", "ReadTasks"}
	stays := func(l ...string) func(work) string {
		return all(tells(l...), is("nothing is decided", func(w work) bool { return w.link.Moving != nil && !w.link.Moving.HandsOver() }))
	}
	cancelled := all(tells(mapping.Stayed), is("it moves no more, and is looked at once more", func(w work) bool { return w.link.Moving == nil && w.pair.Unfinished }))
	decided := func(l ...string) func(work) string {
		return all(tells(l...), is("the link that takes it over is on record", func(w work) bool {
			m := w.link.Moving
			return m.HandsOver() && m.Project == "q" && m.Route == "web" && m.Issue == 7 && m.Link != "l" && m.Nonce != "" && m.Nonce != "n"
		}))
	}
	const handed, cannot = "its issue is handed over to project Q", "it cannot be moved: "
	part := subIssue()
	checkRule(t, rule, []ruleCase{
		{name: "nothing keeps it", link: moving, set: pointedTo(), known: have(), answers: none(), asked: twice, err: handed, check: decided(mapping.LeftBehind, mapping.Relocated)},
		{
			name: "its milestone leaves it", link: links(moving, shown(func(s *mapping.Shown) { s.Milestone = 4 })), set: pointedTo(), known: have(milestone(4)), answers: none(), asked: twice, err: handed,
			check: decided(mapping.LeftBehind, mapping.LeftBehind, mapping.Relocated),
		},
		{
			name: "its milestone stays, as the route does not write to GitHub", link: links(moving, shown(func(s *mapping.Shown) { s.Milestone = 4 })), set: pointedTo(func(r *mapping.Route) { r.Direction = mapping.ToPlanning }),
			known: have(milestone(4)), answers: none(), asked: twice, err: handed, check: decided(mapping.LeftBehind, mapping.Relocated),
		},
		{
			name: "a task that no issue shows stays behind, and those of the bridge are not told of", link: links(moving, part), set: pointedTo(),
			known: knows(have(), func(w work) {
				pw := partWorker(w).part(w.link.SubLinks[0])
				pw.card = &mapping.Card{ID: "t9"}
				pw.issue = new(issueOf())
			}),
			answers: map[string]any{"ReadTasks": []mapping.Task{{ID: "mine"}, {ID: "t"}, {ID: "t9"}}}, asked: twice, err: handed, check: decided(mapping.LeftBehind, mapping.LeftBehind, mapping.Relocated),
		},
		{name: "a dry run", link: moving, set: func(s *Settings) { pointedTo()(s); s.DryRun = true }, known: have(), err: "a dry run moves nothing", check: stays()},
		{name: "an operator parted it", link: links(moving, func(l *mapping.Link) { l.Parted = true }), set: pointedTo(), known: have(), check: cancelled},
		{name: "its issue is out of its route", link: links(moving, func(l *mapping.Link) { l.State = mapping.Left }), set: pointedTo(), known: have(), check: cancelled},
		{name: "its route leads to its own project still", link: moving, known: have(), check: cancelled},
		{name: "people are asked about it", link: links(moving, asking(mapping.Title, "q")), set: pointedTo(), known: have(), check: stays()},
		{name: "its issue is gone", link: moving, set: pointedTo(), known: card("text"), err: cannot + "one of its items is gone", check: stays()},
		{name: "its card is gone", link: moving, set: pointedTo(), known: unchanged(), err: cannot + "one of its items is gone", check: stays()},
		{name: "no route takes it", link: moving, set: pointedTo(func(r *mapping.Route) { r.Labels = []string{"plan"} }), known: have(), err: cannot, check: stays()},
		{
			name: "its labels lead to its own project", link: moving, known: knows(byOwnRoute, have(labelled("bug"))), err: cannot + "route bugs of its own project takes it", check: stays(),
			set: func(s *Settings) {
				s.Routes = mapping.NewRoutes([]mapping.Route{
					{Name: "bugs", Project: "p", Repositories: []string{"acme/web"}, Labels: []string{"bug"}}, {Name: "web", Project: "q", Repositories: []string{"acme/web"}},
				}, mapping.PlanningProject{ID: "p"}, mapping.PlanningProject{ID: "q"})
			},
		},
		{name: "the route there makes no cards", link: moving, set: pointedTo(func(r *mapping.Route) { r.Direction = mapping.ToGitHub }), known: have(), err: cannot + "route web only goes to GitHub", check: stays()},
		{
			name: "GitHub refuses a value that planning has", link: links(moving, func(l *mapping.Link) { refusedOf(&l.Pair, mapping.Title, mapping.GitHub) }), set: pointedTo(), known: have(),
			err: cannot + "GitHub refuses the title of acme/web#12 that planning has: too long", check: stays(),
		},
		{
			name: "GitHub refuses one of a sub-issue", link: links(moving, subIssue(func(p *mapping.Pair) { refusedOf(p, mapping.Title, mapping.GitHub) })), set: pointedTo(), known: have(),
			err: cannot + "GitHub refuses the title of acme/web#9 that planning has", check: stays(),
		},
		{
			name: "GitHub refuses one of a line", link: links(moving, func(l *mapping.Link) { refusedOf(l.Children[0], mapping.State, mapping.GitHub) }), set: pointedTo(), known: have(),
			err: cannot + "GitHub refuses the state of acme/web#12 that planning has", check: stays(),
		},
		{name: "planning refuses one, which the issue has still", link: links(moving, func(l *mapping.Link) { refusedOf(&l.Pair, mapping.Title, mapping.Planning) }), set: pointedTo(), known: have(), answers: none(), asked: twice, err: handed},
		{
			name: "its card has its footer: that goes first", link: moving, set: pointedTo(), known: knows(unchanged(), card(cardFooter)), answers: with(none(), map[string]any{"Update": Updated{}}),
			asked: []string{"ReadTasks", "Save", "BeginWrite", `Update card:c summary="text"@3 by robot`}, err: "is taken off: both sides are looked at once more", check: stays(mapping.Cleaned),
		},
		{name: "its footer cannot be taken off", link: moving, set: pointedTo(), known: knows(unchanged(), card(cardFooter)), answers: with(none(), map[string]any{"Update": errAway}), asked: []string{"ReadTasks", "Save", "BeginWrite", "Update"}, err: "unavailable", check: stays()},
		{name: "labels and the milestone go along", link: moving, set: pointedTo(), known: have(labelled("plan:Done")), answers: none(), asked: twice, err: handed, check: hasLabels("plan:Done")},
		{
			name: "a task of its card may be under way", link: links(moving, func(l *mapping.Link) {
				l.Children[0].Intent = &mapping.Intent{Side: mapping.Planning, Sent: true, At: noon}
			}), set: func(s *Settings) { pointedTo()(s); settles(s) }, known: have(), err: "may still be under way", check: stays(),
		},
		{
			name: "the outcome of a write is not known yet", link: links(moving, func(l *mapping.Link) {
				l.Pending = []mapping.Pending{{ID: "p", Side: mapping.GitHub, Item: mapping.IssueRef(7), Attribute: mapping.Title, From: "a", To: "b", At: noon, Answered: true}}
			}), set: func(s *Settings) { pointedTo()(s); settles(s) }, known: have(), err: "GitHub has not told of our write", check: stays(),
		},
		{name: "its tasks cannot be read", link: moving, set: pointedTo(), known: have(), answers: map[string]any{"ReadTasks": errAway}, asked: twice[:1], err: "tasks of card c", check: stays()},
		{
			name: "they cannot be read once more", link: moving, set: pointedTo(), known: have(), answers: map[string]any{"ReadTasks": turns{[]mapping.Task{}, errAway}}, asked: twice, err: "tasks of card c", check: stays(),
		},
		{
			name: "a sub-issue's task has its footer, which goes first", link: links(moving, part), set: pointedTo(),
			known: knows(have(), func(w work) {
				pw := partWorker(w).part(w.link.SubLinks[0])
				pw.card, pw.issue = &mapping.Card{ID: "t9", Summary: versioned(taskMarked("text", "n9", "9"), 4)}, new(issueOf())
			}),
			answers: with(none(), map[string]any{"Update": Updated{}}), asked: []string{"ReadTasks", "Save", "BeginWrite", `Update task:t9 summary="text"@4 by robot`}, err: "is taken off", check: stays(mapping.Cleaned),
		},
		{
			name: "a sub-issue without a task has nothing on it", link: links(moving, subIssue(func(p *mapping.Pair) { p.State = mapping.Creating })), set: pointedTo(), known: have(), answers: none(), asked: twice, err: handed,
		},
		{
			name: "a sub-issue's task is not known, and cannot be read", link: links(moving, part), set: pointedTo(), known: have(), answers: with(none(), map[string]any{"ReadIssue": errAway}),
			asked: []string{"ReadTasks", "ReadIssue"}, err: "unavailable", check: stays(),
		},
	})
}

// TestHandOverSubIssues has which sub-issues go along with an issue, and how.
func TestHandOverSubIssues(t *testing.T) {
	decided := func(l *mapping.Link) {
		l.Moving = &mapping.Moving{Project: "q", Route: "other", Link: "next", Nonce: "m", Issue: 7}
	}
	goes := hands("the sub-issue goes along with its parent, without its task", func(o *store.Observation) bool {
		if len(o.Create.SubLinks) != 1 {
			return false
		}
		p := o.Create.SubLinks[0]
		return p.Issue.ID == 9 && p.Issue.Number == 9 && p.Parent == 7 && p.Join && p.Card.ID == "" && p.Nonce != "n9" && p.State == mapping.Creating && o.Create.ID == "next"
	})
	alone := hands("the issue goes alone", func(o *store.Observation) bool { return len(o.Create.SubLinks) == 0 && o.Create.ID == "next" })
	child := func(change ...func(*mapping.Pair)) func(*mapping.Link) {
		return links(decided, subIssue(append([]func(*mapping.Pair){func(p *mapping.Pair) { p.Parent, p.Join = 7, true }}, change...)...))
	}
	found := func(link mapping.LinkID) map[string]any {
		return map[string]any{"FindLink": store.Key{Project: "q", Link: link}, "Observe": observed}
	}
	asked := []string{"FindLink", "Observe"}
	checkRule(t, handOver, []ruleCase{
		{name: "no link there has it", link: child(), answers: map[string]any{"FindLink": store.ErrNotFound, "Observe": observed}, asked: asked, want: end, wrong: goes},
		{name: "the link that takes the issue over has it, as it was made before", link: child(), answers: found("next"), asked: asked, want: end, wrong: goes},
		{name: "another link there has it", link: child(), answers: found("else"), asked: asked, want: end, wrong: alone},
		{name: "its issue was not made yet", link: child(func(p *mapping.Pair) { p.Issue.ID = 0 }), answers: found(""), asked: asked[1:], want: end, wrong: alone},
		{name: "its task was not made yet", link: child(func(p *mapping.Pair) { p.State = mapping.Creating }), answers: found(""), asked: asked[1:], want: end, wrong: alone},
		{
			name: "news of a sub-issue find it or its parent", link: links(decided, func(l *mapping.Link) { l.Parted = true }), known: events(mapping.IssueEvent{Item: mapping.IssueRef(9), Look: "x"}),
			answers: found(""), asked: asked[1:], want: end, wrong: hands("they do", func(o *store.Observation) bool { return fmt.Sprint(o.Refs) == "[issue:9 issue:7]" }),
		},
		{
			name: "news of the issue find it", link: links(decided, func(l *mapping.Link) { l.Parted = true }), known: events(mapping.IssueEvent{Item: mapping.IssueRef(7), Look: "x"}),
			answers: found(""), asked: asked[1:], want: end, wrong: hands("they do", func(o *store.Observation) bool { return fmt.Sprint(o.Refs) == "[issue:7]" && !o.Own }),
		},
		{
			name: "an event of our own account is told as such", link: links(decided, func(l *mapping.Link) { l.Parted = true }), known: events(mapping.IssueEvent{Step: &mapping.OwnEvent{Came: noon.Add(-time.Minute)}}),
			answers: found(""), asked: asked[1:], want: end, wrong: hands("it is", func(o *store.Observation) bool { return o.Own && len(o.Event) > 0 }),
		},
	})
}
