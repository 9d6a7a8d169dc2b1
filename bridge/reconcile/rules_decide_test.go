package reconcile

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"planbridge/mapping"
	"planbridge/store"
)

// plans says what is wrong where the plan has other decisions, or writes something else.
func plans(decisions ...string) func(work) string {
	return func(w work) string {
		var got []string
		for _, d := range w.round.plan.Decisions {
			line := fmt.Sprint(d.Attribute, " ", d.Action)
			if d.Planning != nil {
				line += fmt.Sprintf(" planning=%q@%d", d.Planning.To, d.Planning.Version)
			}
			if d.GitHub != nil {
				line += fmt.Sprintf(" github=%q", d.GitHub.To)
			}
			if d.By != "" {
				line += " by " + d.By
			}
			got = append(got, line)
		}
		if !slices.Equal(got, decisions) {
			return fmt.Sprintf("the plan is\n%q, want\n%q", got, decisions)
		}
		return ""
	}
}

// sides sets what both sides have in one attribute. planning has version 2.
func sides(a mapping.Attribute, github, planning string) func(work) {
	return func(w work) { w.g[a], w.p[a] = mapping.Versioned{Value: github}, versioned(planning, 2) }
}

// agreed sets what both sides agreed on in one attribute, in version 1.
func agreed(a mapping.Attribute, github, planning string) func(*mapping.Link) {
	return func(l *mapping.Link) { l.Base[a] = mapping.Base{GitHub: github, Planning: planning, Version: 1} }
}

// links sets several things that the record says.
func links(what ...func(*mapping.Link)) func(*mapping.Link) {
	return func(l *mapping.Link) {
		for _, set := range what {
			set(l)
		}
	}
}

func asking(a mapping.Attribute, id string) func(*mapping.Link) {
	return func(l *mapping.Link) { l.Asking = map[mapping.Attribute]string{a: id} }
}

func policy(p mapping.Policy) func(*mapping.Route) {
	return func(r *mapping.Route) { r.DefaultPolicy = p }
}

func TestDecide(t *testing.T) {
	titles, both := agreed(mapping.Title, "a", "a"), sides(mapping.Title, "b", "c")
	id := mapping.ConflictID("c", mapping.Title, "b", "c")
	answered := mapping.Conflict{ID: id, State: mapping.ConflictAnswered, Winner: mapping.GitHub, AnsweredBy: "eve"}
	checkRule(t, decide, []ruleCase{
		{name: "nothing changed", check: all(plans(), is("GitHub is not written", func(w work) bool { return !w.round.writesGitHub }))},
		{name: "GitHub changed", link: titles, known: sides(mapping.Title, "b", "a"), check: all(plans(`title to_planning planning="b"@2`), is("GitHub is not written", func(w work) bool { return !w.round.writesGitHub }))},
		{name: "planning changed", link: titles, known: sides(mapping.Title, "a", "c"), check: all(plans(`title to_github github="c"`), is("GitHub is written", func(w work) bool { return w.round.writesGitHub }))},
		{name: "a label lost against another one: GitHub is written", known: func(w work) { w.extra = []string{"points/8"} }, check: is("GitHub is written", func(w work) bool { return w.round.writesGitHub })},
		{name: "the summary was not agreed on", link: func(l *mapping.Link) { delete(l.Base, mapping.Summary) }, check: is("that is known", func(w work) bool { return w.round.unbased })},
		{name: "the summary was agreed on", check: is("that is known", func(w work) bool { return !w.round.unbased })},
		{name: "both changed, and planning wins", link: titles, known: both, check: plans(`title conflict github="c"`)},
		{name: "both changed, and people are asked", link: titles, known: both, route: policy(mapping.PolicyAsk), check: plans("title ask")},
		{
			name: "an operator answered", link: links(titles, asking(mapping.Title, id)), known: both, route: policy(mapping.PolicyAsk), answers: map[string]any{"ReadConflict": answered},
			asked: []string{"ReadConflict"}, check: plans(`title conflict planning="b"@2 by eve`),
		},
		{
			name: "the store lost the question", link: links(titles, asking(mapping.Title, id)), known: both, route: policy(mapping.PolicyAsk), answers: map[string]any{"ReadConflict": store.ErrNotFound},
			asked: []string{"ReadConflict"}, check: plans("title ask"),
		},
		{
			name: "the store does not say what was answered", link: links(titles, asking(mapping.Title, id)), known: both, route: policy(mapping.PolicyAsk), answers: map[string]any{"ReadConflict": errAway},
			asked: []string{"ReadConflict"}, err: "read conflict", check: plans(),
		},
		{
			name: "the repository is public: nothing of planning's goes there", link: titles, known: knows(sides(mapping.Title, "a", "c"), func(w work) { w.hidden = &publicError{repo: "acme/web"} }),
			check: all(plans("title withheld"), is("it is known what was kept from it", func(w work) bool { return w.withheld != nil && !w.round.writesGitHub })),
		},
		{
			name: "it is, and GitHub's goes to planning", link: titles, known: knows(sides(mapping.Title, "b", "a"), func(w work) { w.hidden = &publicError{repo: "acme/web"} }),
			check: all(plans(`title to_planning planning="b"@2`), is("nothing was kept", func(w work) bool { return w.withheld == nil })),
		},
		{
			name: "it is, and a conflict would be quoted there", link: titles, known: knows(both, func(w work) { w.hidden = &publicError{repo: "acme/web"} }), route: policy(mapping.PolicyAsk),
			check: plans("title withheld"),
		},
	})
}

func TestDecideByTime(t *testing.T) {
	titles, both := agreed(mapping.Title, "a", "a"), sides(mapping.Title, "b", "c")
	old := "a"
	told := func(at time.Duration, by string) func(work) {
		return func(w work) {
			w.edits = []mapping.IssueEvent{{TitleFrom: &old, Title: "b", Sender: by, At: noon.Add(at)}}
			w.issue = &mapping.Issue{ID: 7, UpdatedAt: noon}
		}
	}
	polled := func(from, to time.Duration) func(work) {
		return func(w work) {
			w.card = &mapping.Card{ID: "c", Version: 2, Title: versioned("c", 2), Polled: mapping.Interval{From: noon.Add(from), To: noon.Add(to)}}
		}
	}
	before, after := polled(-3*time.Hour, -2*time.Hour), polled(-time.Minute, 0)
	edit := told(-time.Hour, "ann")
	updated := func(l *mapping.Link) { l.Issue.Agreed = noon.Add(-10 * time.Minute) }
	rewound := func(w work) { w.rewound = true }
	gone := knows(sides(mapping.Title, "b", "a"), rewound)
	checkRule(t, decide, []ruleCase{
		{name: "planning was edited later", link: titles, route: policy(mapping.PolicyNewest), known: knows(both, edit, after), check: plans(`title conflict github="c"`)},
		{name: "GitHub was edited later", link: titles, route: policy(mapping.PolicyNewest), known: knows(both, edit, before), check: plans(`title conflict planning="b"@2`)},
		{name: "nobody knows when planning was edited", link: titles, route: policy(mapping.PolicyNewest), known: knows(both, edit), check: plans("title ask")},
		{name: "nothing new of GitHub is known", link: titles, route: policy(mapping.PolicyNewest), known: knows(both, after), check: plans("title ask")},
		{
			name: "an edit of our own account says nothing", link: links(titles, updated), route: policy(mapping.PolicyNewest), known: knows(both, told(-time.Hour, "bridge"), after), check: plans("title ask"),
		},
		{
			name: "without an event, the issue was edited since it last agreed", link: links(titles, updated), route: policy(mapping.PolicyNewest), known: knows(both, told(-time.Hour, "bridge"), before),
			check: plans(`title conflict planning="b"@2`),
		},
		{
			name: "while people are asked, only an event tells", link: links(titles, updated, asking(mapping.Title, "q")), route: policy(mapping.PolicyNewest),
			known: knows(both, told(-time.Hour, "bridge"), before), answers: map[string]any{"ReadConflict": mapping.Conflict{ID: "q", State: mapping.ConflictOpen}}, asked: []string{"ReadConflict"}, check: plans("title ask"),
		},
		{name: "GitHub's data went back: it is no edit", link: titles, known: gone, check: plans(`title conflict github="a"`)},
		{name: "it did, and somebody edited what was agreed on", link: titles, known: knows(gone, edit), check: plans(`title to_planning planning="b"@2`)},
	})
}

func TestDecideReturnsMarkers(t *testing.T) {
	texts := agreed(mapping.Summary, "old", "old")
	unmarked := func(w work) { w.unmarked = "a text without" }
	shown := knows(unmarked, sides(mapping.Summary, "old", "old"))
	byBridge := func(l *mapping.Link) { l.Origin = mapping.Planning }
	checkRule(t, decide, []ruleCase{
		{name: "the card has its marker", link: texts, known: sides(mapping.Summary, "old", "old"), check: plans("summary adopt")},
		{name: "somebody took it off the card", link: texts, known: shown, check: plans("summary adopt", `summary remark planning="old"@2`)},
		{name: "somebody did, and planning's text is not known", link: texts, known: unmarked, check: plans(`summary remark planning="old"@1`)},
		{name: "it came back once already", link: links(texts, func(l *mapping.Link) { l.MarkerRestored = "a text without" }), known: shown, check: plans("summary adopt")},
		{name: "its issue moves, and marks go", link: links(texts, func(l *mapping.Link) { l.Moving = &mapping.Moving{} }), known: shown, check: plans("summary adopt")},
		{name: "the route does not write to planning", route: func(r *mapping.Route) { r.Direction = mapping.ToGitHub }, link: texts, known: shown, check: plans("summary adopt")},
		{name: "the text is written anyway", link: texts, known: knows(unmarked, sides(mapping.Summary, "new", "old")), check: plans(`summary to_planning planning="new"@2`)},
		{name: "the issue gets the text, which comes first", link: texts, known: knows(unmarked, sides(mapping.Summary, "old", "new")), check: plans(`summary to_github github="new"`)},
		{name: "somebody took it off an issue that the bridge made", link: links(texts, byBridge), known: shown, check: plans("summary adopt", `summary remark github="old"`)},
		{name: "that of a copied card stands in planning", link: links(texts, byBridge, func(l *mapping.Link) { l.Copied = true }), known: shown, check: plans("summary adopt", `summary remark planning="old"@2`)},
	})
}

func TestDecideCreditsAnUndo(t *testing.T) {
	titles := agreed(mapping.Title, "a", "a")
	undoing := func(l *mapping.Link) { l.Undo = map[mapping.Attribute]string{mapping.Title: "q"} }
	lost := func(winner mapping.Side, change ...func(*mapping.Conflict)) map[string]any {
		c := mapping.Conflict{ID: "q", Attribute: mapping.Title, GitHub: "b", Planning: "c", Winner: winner, State: mapping.ConflictUndone, UndoneBy: "eve"}
		for _, f := range change {
			f(&c)
		}
		return map[string]any{"ReadConflict": c}
	}
	read := []string{"ReadConflict"}
	toPlanning, toGitHub := sides(mapping.Title, "b", "a"), sides(mapping.Title, "a", "c")
	checkRule(t, decide, []ruleCase{
		{name: "GitHub's loser crosses", link: links(titles, undoing), known: toPlanning, answers: lost(mapping.Planning), asked: read, check: plans(`title to_planning planning="b"@2 by eve`)},
		{name: "planning's loser crosses", link: links(titles, undoing), known: toGitHub, answers: lost(mapping.GitHub), asked: read, check: plans(`title to_github github="c" by eve`)},
		{name: "nobody is named", link: links(titles, undoing), known: toPlanning, answers: lost(mapping.Planning, func(c *mapping.Conflict) { c.UndoneBy = "" }), asked: read, check: plans(`title to_planning planning="b"@2 by an operator`)},
		{name: "GitHub's value had won", link: links(titles, undoing), known: toPlanning, answers: lost(mapping.GitHub), asked: read, check: plans(`title to_planning planning="b"@2`)},
		{name: "planning's value had won", link: links(titles, undoing), known: toGitHub, answers: lost(mapping.Planning), asked: read, check: plans(`title to_github github="c"`)},
		{name: "another value crosses to planning", link: links(titles, undoing), known: sides(mapping.Title, "x", "a"), answers: lost(mapping.Planning), asked: read, check: plans(`title to_planning planning="x"@2`)},
		{name: "another value crosses to GitHub", link: links(titles, undoing), known: sides(mapping.Title, "a", "x"), answers: lost(mapping.GitHub), asked: read, check: plans(`title to_github github="x"`)},
		{name: "it is about a task", link: links(titles, undoing), known: toPlanning, answers: lost(mapping.Planning, func(c *mapping.Conflict) { c.Task = "t" }), asked: read, check: plans(`title to_planning planning="b"@2`)},
		{name: "the store lost the entry", link: links(titles, undoing), known: toPlanning, answers: map[string]any{"ReadConflict": store.ErrNotFound}, asked: read, check: plans(`title to_planning planning="b"@2`)},
		{name: "the store does not say", link: links(titles, undoing), known: toPlanning, answers: map[string]any{"ReadConflict": errAway}, asked: read, err: "read conflict"},
		{name: "nothing is undone", link: titles, known: toPlanning, check: plans(`title to_planning planning="b"@2`)},
	})
}
