package reconcile

import (
	"maps"
	"testing"

	"planbridge/mapping"
	"planbridge/store"
)

// entry is a question of the ledger about the titles b and c.
func entry(state string, change ...func(*mapping.Conflict)) mapping.Conflict {
	c := mapping.Conflict{ID: mapping.ConflictID("c", mapping.Title, "b", "c"), Attribute: mapping.Title, GitHub: "b", Planning: "c", State: state}
	for _, f := range change {
		f(&c)
	}
	return c
}

func entryIs(c mapping.Conflict) map[string]any { return map[string]any{"ReadConflict": c} }

func with(answers, more map[string]any) map[string]any {
	maps.Copy(answers, more)
	return answers
}

// readAnd is what is asked for after an entry of the ledger was read.
func readAnd(more ...string) []string { return append([]string{"ReadConflict"}, more...) }

func notAsked(w work) string {
	return is("nothing is asked any more", func(w work) bool { return len(w.pair.Asking)+len(w.pair.Putting) == 0 })(w)
}

func stillAsked(w work) string {
	return is("it is asked still", func(w work) bool { return len(w.pair.Asking) == 1 })(w)
}

func TestAgree(t *testing.T) {
	id := entry("").ID
	adopt := mapping.Decision{Attribute: mapping.Title, Action: mapping.Adopt, Why: "both are the same", Base: mapping.Base{GitHub: "b", Planning: "b", Version: 3}}
	refused := func(l *mapping.Link) {
		l.Refused = map[mapping.Attribute]mapping.Refusal{mapping.Title: {Side: mapping.GitHub}}
	}
	checkRule(t, agree, []ruleCase{
		{name: "what both have is the new base", known: planned(adopt), check: agreedOn(mapping.Title, "b", "b", 3)},
		{name: "what is written is agreed on with the answer alone", known: planned(toPlan(mapping.Title, "a", "b")), check: agreedOn(mapping.Title, "", "", 1)},
		{name: "both agree on what a side had refused", link: refused, known: sides(mapping.Title, "a", "a"), check: notRefused},
		{name: "both agree, as far as GitHub alone tells", link: refused, known: func(w work) { w.g[mapping.Title] = mapping.Versioned{} }, check: is("the value is blocked", func(w work) bool { return len(w.pair.Refused) == 1 })},
		{name: "both agree, as far as planning alone tells", link: refused, known: func(w work) { w.p[mapping.Title] = mapping.Versioned{} }, check: is("the value is blocked", func(w work) bool { return len(w.pair.Refused) == 1 })},
		{
			name: "the value is refused still", link: refused, known: knows(sides(mapping.Title, "a", "b"), planned(mapping.Decision{Attribute: mapping.Title, Action: mapping.Blocked})),
			check: is("the value is blocked", func(w work) bool { return len(w.pair.Refused) == 1 }),
		},
		{
			name: "people made both sides equal", link: asking(mapping.Title, id), known: knows(writing(issueOf()), planned(adopt)), answers: entryIs(entry(mapping.ConflictOpen)),
			asked: []string{"ReadConflict", "PutConflict title settled"}, counts: []string{}, check: notAsked,
		},
		{
			name: "people undid both edits", link: asking(mapping.Title, id), known: knows(writing(issueOf()), sides(mapping.Title, "a", "a")), answers: entryIs(entry(mapping.ConflictOpen)),
			asked: []string{"ReadConflict", "PutConflict title settled"}, check: notAsked,
		},
		{
			name: "the store lost the question", link: asking(mapping.Title, id), known: knows(writing(issueOf()), planned(adopt)), answers: map[string]any{"ReadConflict": store.ErrNotFound},
			asked: []string{"ReadConflict"}, check: notAsked,
		},
		{
			name: "the store does not say", link: asking(mapping.Title, id), known: knows(writing(issueOf()), planned(adopt)), answers: map[string]any{"ReadConflict": errAway},
			asked: []string{"ReadConflict"}, err: "read conflict", check: stillAsked,
		},
		{
			name: "the store does not take it", link: asking(mapping.Title, id), known: knows(writing(issueOf()), planned(adopt)), answers: with(entryIs(entry(mapping.ConflictOpen)), map[string]any{"PutConflict": errAway}),
			asked: []string{"ReadConflict", "PutConflict"}, err: "keep conflict", check: stillAsked,
		},
	})
}

// TestQuestionsStayOpen has the decisions that leave a question as it is.
func TestQuestionsStayOpen(t *testing.T) {
	var cases []ruleCase
	for _, action := range []mapping.Action{mapping.Ask, mapping.Blocked, mapping.Restrained, mapping.Withheld, mapping.RestoreMarker} {
		cases = append(cases, ruleCase{
			name: string(action), link: asking(mapping.Title, "q"), known: knows(sides(mapping.Title, "b", "c"), planned(mapping.Decision{Attribute: mapping.Title, Action: action})), check: stillAsked,
		})
	}
	checkRule(t, agree, cases)
}

func TestEndsOfQuestions(t *testing.T) {
	id := entry("").ID
	wins := func(winner mapping.Side, by string) mapping.Decision {
		d := mapping.Decision{Attribute: mapping.Title, Action: mapping.ResolveConflict, Why: "chosen", Winner: winner, By: by}
		if winner == mapping.GitHub {
			d.Planning, d.Base = &mapping.Write{From: "c", To: "b"}, mapping.Base{GitHub: "b", Planning: "b"}
		} else {
			d.GitHub, d.Base = &mapping.Write{From: "b", To: "c"}, mapping.Base{GitHub: "c", Planning: "c"}
		}
		return d
	}
	known := func(d mapping.Decision, labels ...string) func(work) {
		return knows(writing(issueOf(labelled(labels...))), planned(d))
	}
	other := wins(mapping.GitHub, "")
	other.Planning.From = "d"
	two := func(l *mapping.Link) {
		l.Asking = map[mapping.Attribute]string{mapping.Title: id, mapping.Summary: "q2"}
	}
	checkRule(t, agree, []ruleCase{
		{
			name: "an operator chose GitHub's value", link: asking(mapping.Title, id), known: known(wins(mapping.GitHub, "eve")), answers: entryIs(entry(mapping.ConflictAnswered)),
			asked: readAnd("PutConflict title settled github"), counts: []string{"1 web title github"}, check: notAsked,
		},
		{
			name: "an operator chose planning's value", link: asking(mapping.Title, id), known: known(wins(mapping.Planning, "eve")), answers: entryIs(entry(mapping.ConflictAnswered)),
			asked: readAnd("PutConflict title settled planning"), counts: []string{"1 web title planning"}, check: notAsked,
		},
		{
			name: "other values were decided on", link: asking(mapping.Title, id), known: known(other), answers: entryIs(entry(mapping.ConflictOpen)),
			asked: readAnd("PutConflict title settled"), counts: []string{}, check: notAsked,
		},
		{
			name: "one that was about to be asked ends, too", link: func(l *mapping.Link) { l.Putting = map[mapping.Attribute]string{mapping.Title: id} }, known: known(wins(mapping.GitHub, "")),
			answers: entryIs(entry(mapping.ConflictOpen)), asked: readAnd("PutConflict title settled github"), check: notAsked,
		},
		{
			name: "the same one, about to be asked again, ends once", known: known(wins(mapping.GitHub, "")), answers: entryIs(entry(mapping.ConflictOpen)), asked: readAnd("PutConflict title settled github"), check: notAsked,
			link: func(l *mapping.Link) {
				asking(mapping.Title, id)(l)
				l.Putting = map[mapping.Attribute]string{mapping.Title: id}
			},
		},
		{
			name: "the label goes with the last one", link: asking(mapping.Title, id), known: known(wins(mapping.GitHub, ""), "plan:conflict"),
			answers: with(entryIs(entry(mapping.ConflictOpen)), map[string]any{"RemoveLabel": []string{}}), asked: readAnd("PutConflict", "Save", "BeginWrite", "RemoveLabel plan:conflict"), check: all(notAsked, hasLabels()),
		},
		{
			name: "the label stays while another one is asked", link: two, known: known(wins(mapping.GitHub, ""), "plan:conflict"), answers: entryIs(entry(mapping.ConflictOpen)),
			asked: readAnd("PutConflict"), check: all(stillAsked, hasLabels("plan:conflict")),
		},
		{
			name: "the label stays while one about a line is asked", known: known(wins(mapping.GitHub, ""), "plan:conflict"), answers: entryIs(entry(mapping.ConflictOpen)), asked: readAnd("PutConflict"), check: hasLabels("plan:conflict"),
			link: func(l *mapping.Link) {
				asking(mapping.Title, id)(l)
				l.Children[0].Asking = map[mapping.Attribute]string{mapping.Title: "q3"}
			},
		},
		{
			name: "the route does not write to GitHub: the label stays", link: asking(mapping.Title, id), route: func(r *mapping.Route) { r.Direction = mapping.ToPlanning }, known: known(wins(mapping.GitHub, ""), "plan:conflict"),
			answers: entryIs(entry(mapping.ConflictOpen)), asked: readAnd("PutConflict"), check: all(notAsked, hasLabels("plan:conflict")),
		},
		{
			name: "the issue is not known, and cannot be read", link: asking(mapping.Title, id), known: planned(wins(mapping.GitHub, "")), answers: with(entryIs(entry(mapping.ConflictOpen)), map[string]any{"ReadIssue": errAway}),
			asked: readAnd("PutConflict", "ReadIssue"), err: "unavailable", check: stillAsked,
		},
		{
			name: "the label cannot be taken off", link: asking(mapping.Title, id), known: known(wins(mapping.GitHub, ""), "plan:conflict"),
			answers: with(entryIs(entry(mapping.ConflictOpen)), map[string]any{"RemoveLabel": errAway}), asked: readAnd("PutConflict", "Save", "BeginWrite", "RemoveLabel"), err: "remove label", check: stillAsked,
		},
	})
}
