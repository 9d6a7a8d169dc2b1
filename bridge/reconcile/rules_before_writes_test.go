package reconcile

import (
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

func TestExtraLabels(t *testing.T) {
	held := func(l *mapping.Link) { l.Held = map[mapping.Attribute]string{mapping.Estimate: "5"} }
	known := func(ds ...mapping.Decision) func(work) {
		return knows(writing(issueOf(labelled("points/3", "points/8")), ds...), func(w work) { w.extra, w.g[mapping.Estimate] = []string{"points/8"}, mapping.Versioned{Value: "3"} })
	}
	wins := func(value string) func(work) string {
		return is("the winner is recorded until it is agreed on", func(w work) bool { return w.pair.Held[mapping.Estimate] == value })
	}
	removed := map[string]any{"RemoveLabel": []string{"points/3"}}
	off := savedAnd("RemoveLabel points/8")
	checkRule(t, dropExtra, []ruleCase{
		{name: "there is none", known: writing(issueOf()), link: held, check: wins("")},
		{name: "the issue is not known", link: held, check: wins("5")},
		{name: "one lost, and the other one is agreed on", known: known(), answers: removed, asked: off, check: all(hasLabels("points/3"), wins(""), tells("label"))},
		{name: "one lost, and planning gets the other one", known: known(put(mapping.Estimate, "1", "3")), answers: removed, asked: off, check: all(hasLabels("points/3"), wins("3"))},
		{name: "GitHub gets another one, and loses all of them then", known: known(give(mapping.Estimate, "3", "5")), check: hasLabels("points/3", "points/8")},
		{name: "GitHub gets a title", known: known(give(mapping.Title, "a", "b")), answers: removed, asked: off, check: all(hasLabels("points/3"), wins(""))},
		{name: "it cannot be taken off", known: known(put(mapping.Estimate, "1", "3")), link: held, answers: map[string]any{"RemoveLabel": errAway}, asked: off, err: "remove label", check: wins("5")},
		{name: "the lease is lost", known: known(), answers: map[string]any{"Save": store.ErrLeaseLost}, asked: []string{"Save"}, err: "lease"},
	})
}

func TestSignJoinedCards(t *testing.T) {
	unbased := func(l *mapping.Link) { delete(l.Base, mapping.Summary) }
	unmarked := func(more ...func(work)) func(work) {
		return knows(append([]func(work){planned(toHub(mapping.Title, "a", "b")), func(w work) { w.unmarked, w.p[mapping.Summary] = "u", versioned("text", 1) }}, more...)...)
	}
	marked := func(values map[mapping.Attribute]mapping.Versioned) map[string]any {
		return map[string]any{"Update": shows(4, values)}
	}
	summary := func(value string, version int64) map[mapping.Attribute]mapping.Versioned {
		return map[mapping.Attribute]mapping.Versioned{mapping.Summary: versioned(value, version)}
	}
	isSigned := is("its text does not get its marker twice", func(w work) bool { return w.pair.MarkerRestored == "u" })
	asked := savedAnd(`Update card:c summary="text\n\n…`)
	checkRule(t, signJoined, []ruleCase{
		{
			name: "a joined card", link: unbased, known: unmarked(), answers: marked(summary("text", 3)), asked: asked, want: anew,
			check: all(isSigned, holds(mapping.Summary, "text", 3), tells("mark"), is("the card's version is known", func(w work) bool { return w.pair.Card.Version == 4 })),
		},
		{
			name: "the answer lacks the text: it is read", link: unbased, known: unmarked(), want: anew, check: all(isSigned, holds(mapping.Summary, "text", 2)),
			answers: map[string]any{"Update": shows(4, nil), "ReadCard": mapping.Card{ID: "c", Summary: versioned("text", 2)}}, asked: append(slices.Clone(asked), "ReadCard"),
		},
		{name: "nothing is written", link: unbased, known: unmarked(planned())},
		{name: "the text was agreed on", known: unmarked()},
		{name: "the card has its marker", link: unbased, known: unmarked(func(w work) { w.unmarked = "" })},
		{name: "it was given back once", link: links(unbased, func(l *mapping.Link) { l.MarkerRestored = "u" }), known: unmarked()},
		{name: "the bridge made the issue, which has the marker", link: links(unbased, func(l *mapping.Link) { l.Origin = mapping.Planning }), known: unmarked()},
		{name: "a task of a sub-issue", link: unbased, known: unmarked(func(w work) { w.root = w.state })},
		{name: "the route does not write to planning", link: unbased, route: func(r *mapping.Route) { r.Direction = mapping.ToGitHub }, known: unmarked()},
		{name: "the lease is lost", link: unbased, known: unmarked(), answers: map[string]any{"Save": store.ErrLeaseLost}, asked: []string{"Save"}, err: "lease"},
		{
			name: "somebody was faster", link: unbased, known: unmarked(), answers: map[string]any{"Update": &mapping.VersionConflict{Current: summary("new", 2)}}, asked: asked, want: anew,
			check: all(holds(mapping.Summary, "new", 2), is("the marker is missing still", func(w work) bool { return w.unmarked == "u" })),
		},
		{
			name: "planning refuses the text with it: it goes on without", link: unbased, known: unmarked(), answers: map[string]any{"Update": &mapping.Rejection{Message: "too long"}}, asked: asked, want: anew,
			check: all(tells("refused"), is("it is not tried again", func(w work) bool { return w.pair.MarkerRestored == "u" })),
		},
		{name: "planning is away", link: unbased, known: unmarked(), answers: map[string]any{"Update": errAway}, asked: asked, err: "unavailable", check: is("it is tried again", func(w work) bool { return w.pair.MarkerRestored == "" })},
	})
}

func TestPacePlan(t *testing.T) {
	scored := func(score int) func(*mapping.Link) {
		return func(l *mapping.Link) {
			l.Pace.Exchanges = map[mapping.Attribute]mapping.Exchange{mapping.Title: {Score: score, Wrote: map[mapping.Side]time.Time{mapping.GitHub: noon, mapping.Planning: noon}}}
		}
	}
	title := knows(planned(toPlan(mapping.Title, "a", "b")), sides(mapping.Title, "b", ""))
	score := func(n int) func(work) string {
		return is("the changes that answered our writes are counted", func(w work) bool { return w.pair.Pace.Exchanges[mapping.Title].Score == n })
	}
	midway := func(yes bool) func(work) string {
		return is("it is known whether a plan is being carried out", func(w work) bool { return w.pair.Pace.Midway == yes })
	}
	checkRule(t, pacePlan, []ruleCase{
		{name: "nothing is written", link: scored(55), check: all(score(55), midway(false))},
		{name: "a value that both have", link: scored(55), known: planned(mapping.Decision{Attribute: mapping.Title, Action: mapping.Adopt}), check: all(score(55), midway(false))},
		{name: "GitHub answered our write at once", link: scored(50), known: title, check: all(score(55), midway(true))},
		{
			name: "it did so over and over", link: scored(55), known: title, want: end, err: "two programs may be answering each other",
			check: is("it begins anew after a retry", func(w work) bool { return len(w.pair.Pace.Exchanges) == 0 && !w.pair.Pace.Midway }),
		},
		{
			name: "planning did", link: scored(55), known: knows(planned(toHub(mapping.Title, "", "b")), sides(mapping.Title, "", "b")), want: end, err: "two programs",
		},
		{
			name: "a line of a checklist did", link: scored(55), known: planned(toHub(mapping.Title, "", "b")), want: end, err: "two programs",
		},
		{
			name: "somebody edited twice meanwhile", link: scored(55), check: all(score(0), midway(true)),
			known: knows(title, func(w work) {
				old := "a"
				w.edits = []mapping.IssueEvent{{TitleFrom: &old, Title: "x", Sender: "ann"}, {TitleFrom: &old, Title: "b", Sender: "ann"}}
			}),
		},
		{name: "planning counted two versions", link: scored(55), known: knows(planned(toHub(mapping.Title, "", "b")), func(w work) { w.g[mapping.Title], w.p[mapping.Title] = mapping.Versioned{}, versioned("b", 3) }), check: score(0)},
		{name: "a retry does not count", link: scored(55), known: knows(title, func(w work) { w.claim.Attempts = 1 }), check: all(score(55), midway(true))},
		{name: "a claim that was given up does not count", link: scored(55), known: knows(title, func(w work) { w.claim.Abandoned = 1 }), check: score(55)},
		{name: "the next step of a plan does not", link: scored(55), known: knows(title, func(w work) { w.resumed = true }), check: score(55)},
		{name: "a later round of the claim does not", link: scored(50), known: knows(title, func(w work) { w.paced[mapping.Title] = true }), check: score(50)},
	})
}
