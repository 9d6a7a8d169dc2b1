package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

func TestHandOver(t *testing.T) {
	decided := func(l *mapping.Link) {
		l.Moving = &mapping.Moving{Project: "q", Route: "other", Link: "next", Nonce: "m", Issue: 7}
	}
	part := func(l *mapping.Link) {
		l.SubLinks = []*mapping.Pair{{Kind: mapping.SubIssue, State: mapping.Linked, Issue: mapping.IssueID{ID: 9, Repo: "acme/web", Number: 9}, Card: mapping.CardID{ID: "t9"}, Nonce: "n9"}}
	}
	over := links(decided, func(l *mapping.Link) { l.Parted = true })
	handed := map[string]any{"Observe": observed, "FindLink": store.ErrNotFound}
	given := is("the issue is the other link's, and the card stays", func(w work) bool { return w.link.HandedOver() && w.pair.Issue.ID == 0 && w.pair.Card.ID == "c" })
	kept := is("the issue is this link's still", func(w work) bool { return !w.link.HandedOver() && w.pair.Issue.ID == 7 })
	checkRule(t, handOver, []ruleCase{
		{name: "it does not move", check: kept},
		{name: "it is to move, and where to is not decided", link: func(l *mapping.Link) { l.Moving = &mapping.Moving{} }, check: kept},
		{name: "it moves", link: decided, answers: handed, asked: []string{"Observe to q: 1"}, want: end, check: given},
		{name: "it moves with a sub-issue", link: links(decided, part), answers: handed, asked: []string{"FindLink", "Observe to q: 1"}, want: end, check: given},
		{name: "whose issue another link there has", link: links(decided, part), answers: map[string]any{"Observe": observed, "FindLink": store.Key{Project: "q", Link: "else"}}, asked: []string{"FindLink", "Observe"}, want: end, check: given},
		{name: "it moves with what events told", link: decided, known: events(mapping.IssueEvent{Look: "deleted"}, mapping.IssueEvent{Item: mapping.IssueRef(9)}), answers: handed, asked: []string{"Observe to q: 3"}, want: end, check: given},
		{name: "it moves with a snapshot", link: decided, known: issueTold(issueOf()), answers: handed, asked: []string{"Observe to q: 2"}, want: end, check: given},
		{name: "it has moved, and nothing came since", link: over, want: end},
		{name: "it has moved, and a delivery found the old link", link: over, known: issueTold(issueOf()), answers: handed, asked: []string{"Observe to q: 1"}, want: end},
		{name: "the store does not take it", link: decided, answers: map[string]any{"Observe": errAway}, asked: []string{"Observe"}, want: end, err: "hand over to project", check: kept},
		{name: "one of the observations is not taken", link: decided, answers: map[string]any{"Observe": []store.Observed{{Err: errAway}}}, asked: []string{"Observe"}, want: end, err: "hand over to project", check: kept},
		{name: "the store does not say who has the sub-issue", link: links(decided, part), answers: map[string]any{"FindLink": errAway}, asked: []string{"FindLink"}, want: end, err: "hand over to project", check: kept},
	})
}

func TestReroute(t *testing.T) {
	routes := func(rs ...mapping.Route) func(*Settings) {
		return func(s *Settings) { s.Routes = mapping.NewRoutes(rs) }
	}
	web := mapping.Route{Name: "web", Project: "p", Repositories: []string{"acme/web"}, Bucket: "Incoming"}
	bugs, rest := web, web
	bugs.Name, bugs.Labels = "bugs", []string{"bug"}
	rest.Name = "rest"
	goes := func(route string) func(work) string {
		return is("it goes by route "+route, func(w work) bool { return w.route != nil && w.route.Name == route && w.link.Route == route })
	}
	none := is("it has no route", func(w work) bool { return w.route == nil && w.link.Route == "web" })
	elsewhere := mapping.Route{Name: "other", Project: "p", Repositories: []string{"acme/new"}}
	checkRule(t, reroute, []ruleCase{
		{name: "by the same route", check: all(goes("web"), tells())},
		{name: "by a route of another name", set: routes(rest), check: all(goes("rest"), tells(mapping.Rerouted))},
		{name: "its label decides, as a snapshot shows", set: routes(bugs, rest), known: issueTold(issueOf(labelled("bug"))), check: goes("bugs")},
		{name: "its labels decide, and are read", set: routes(bugs, rest), answers: map[string]any{"ReadIssue": issueOf()}, asked: []string{"ReadIssue"}, check: goes("rest")},
		{name: "its labels decide, and it is out of reach", set: routes(bugs, rest), answers: map[string]any{"ReadIssue": mapping.ErrForbidden}, asked: []string{"ReadIssue"}},
		{name: "its labels decide, and GitHub is away", set: routes(bugs, rest), answers: map[string]any{"ReadIssue": errAway}, asked: []string{"ReadIssue"}, want: end, err: "unavailable"},
		{name: "no route has the repository", set: routes(elsewhere), answers: map[string]any{"Locate": "acme/web"}, asked: []string{"Locate"}, check: none},
		{
			name: "it was renamed to one that a route has", set: routes(elsewhere), answers: map[string]any{"Locate": "acme/new"}, asked: []string{"Locate"},
			check: all(goes("other"), is("both items are read under the new name", func(w work) bool { return w.pair.Issue.Repo == "acme/new" && w.mustRead && w.pair.Unfinished })),
		},
		{name: "GitHub refuses to say where it is", set: routes(elsewhere), answers: map[string]any{"Locate": mapping.ErrForbidden}, asked: []string{"Locate"}, check: none},
		{name: "GitHub is away", set: routes(elsewhere), answers: map[string]any{"Locate": errAway}, asked: []string{"Locate"}, want: end, err: "unavailable"},
		{name: "no route has it, and it is taken apart: one is lent", set: routes(elsewhere), link: func(l *mapping.Link) { l.Cleaning = true }, answers: map[string]any{"Locate": "acme/web"}, asked: []string{"Locate"}, check: is("one is", func(w work) bool { return w.route != nil && w.link.Route == "web" })},
		{name: "it is parted: its own route is enough", link: func(l *mapping.Link) { l.Parted = true }, set: routes(rest), check: is("it has none", func(w work) bool { return w.route == nil })},
		{name: "its project is not configured", known: func(w work) { w.served = false }, set: routes(rest), check: is("it is as it was", func(w work) bool { return w.link.Route == "web" })},
	})
}

func TestFoldSeen(t *testing.T) {
	rule := does(pacer.foldSeen)
	folding := func(side mapping.Side) func(*mapping.Link) {
		return func(l *mapping.Link) {
			knownAs(issueOf(at(time.Hour)))(l)
			l.Pace.Folds = map[mapping.Side]mapping.Fold{side: {Until: noon.Add(5 * time.Second), For: 5 * time.Second}}
		}
	}
	toPlanning, toHub := folding(mapping.Planning), folding(mapping.GitHub)
	edited := issueTold(issueOf(named("b"), by("ann")))
	card := func(title string) func(work) {
		return cardTold(mapping.Card{ID: "c", Version: 2, Title: versioned(title, 2), Summary: versioned("", 1), Estimate: versioned("", 1)})
	}
	const why = "folds frequent edits"
	checkRule(t, rule, []ruleCase{
		{name: "nothing is new", link: toPlanning, set: coalesces},
		{name: "another edit of the issue", link: toPlanning, set: coalesces, known: edited, err: why},
		{name: "another edit of the issue, after a write to GitHub alone", link: toHub, set: coalesces, known: edited},
		{name: "another edit of the card", link: toHub, set: coalesces, known: card("b"), err: why},
		{name: "another edit of the card, after a write to planning alone", link: toPlanning, set: coalesces, known: card("b")},
		{name: "a version of the card without a change", link: toHub, set: coalesces, known: card("a")},
		{name: "edits are not folded", link: toPlanning, known: edited},
		{name: "a dry run", link: toPlanning, set: func(s *Settings) { coalesces(s); s.DryRun = true }, known: edited},
		{name: "our own edit", link: toPlanning, set: coalesces, known: issueTold(issueOf(named("b"), by("bridge")))},
		{name: "it matches its route no more", link: toPlanning, set: coalesces, known: issueTold(issueOf(named("b"), labelled("plan:ignore"), by("ann")))},
		{name: "the summary was not agreed on", link: links(toPlanning, func(l *mapping.Link) { delete(l.Base, mapping.Summary) }), set: coalesces, known: edited},
		{name: "planning refuses that value", link: links(toPlanning, func(l *mapping.Link) { l.Refused = map[mapping.Attribute]mapping.Refusal{mapping.Title: {}} }), set: coalesces, known: edited},
		{name: "people are asked about it", link: links(toPlanning, asking(mapping.Title, "q")), set: coalesces, known: edited, answers: entryIs(entry(mapping.ConflictOpen)), asked: []string{"ReadConflict"}},
		{
			name: "an operator answered", link: links(toHub, asking(mapping.Title, "q")), set: coalesces, known: card("b"), answers: entryIs(entry(mapping.ConflictAnswered)), asked: []string{"ReadConflict"},
			check: is("it is urgent", func(w work) bool { return w.urgent }),
		},
		{name: "the store does not say", link: links(toHub, asking(mapping.Title, "q")), set: coalesces, known: card("b"), answers: map[string]any{"ReadConflict": errAway}, asked: []string{"ReadConflict"}, err: "read conflict"},
		{name: "the route does not write to planning", link: toPlanning, route: func(r *mapping.Route) { r.Direction = mapping.ToGitHub }, set: coalesces, known: edited},
		{name: "two states of one second, after a read", link: folding(reading), set: coalesces, known: issueTold(issueOf(), ambiguous), err: why},
		{name: "a write whose outcome is not known", link: links(toPlanning, func(l *mapping.Link) { l.Pending = []mapping.Pending{{ID: "p"}} }), set: coalesces, known: edited},
		{name: "an item may be gone", link: links(toPlanning, func(l *mapping.Link) { l.Gone = map[mapping.Side]int{mapping.GitHub: 1} }), set: coalesces, known: edited},
		{name: "the tracking task", link: links(toHub, agreed(mapping.State, mapping.StateTodo, mapping.StateTodo)), set: coalesces, known: toldOf(mapping.TaskRef("t"), &mapping.Task{ID: "t", State: versioned(mapping.StateDone, 2)}, store.Snapshot{}), err: why},
	})
}
