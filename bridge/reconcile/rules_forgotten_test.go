package reconcile

import (
	"testing"
	"time"

	"planbridge/mapping"
)

func TestKeepForgotten(t *testing.T) {
	a, b := "a", "b"
	titles := agreed(mapping.Title, "a", "a")
	ran := []mapping.IssueEvent{
		{TitleFrom: &a, Title: "b", Sender: "ann", At: noon.Add(-time.Minute)},
		{TitleFrom: &b, Title: "c", Sender: "bridge", At: noon.Add(-time.Minute + time.Second)},
	}
	known := func(d mapping.Decision, more ...func(work)) func(work) {
		return knows(append([]func(work){lacking, writing(issueOf(named("c")), d), func(w work) { w.p[mapping.Title] = versioned("d", 2) }}, more...)...)
	}
	title := mapping.Decision{Attribute: mapping.Title, Action: mapping.ResolveConflict}
	unbased := func(l *mapping.Link) { delete(l.Base, mapping.Title) }
	edits := func(es ...mapping.IssueEvent) map[string]any {
		return newEntry(map[string]any{"ReadEdits": es, "ReadComments": []Comment{}})
	}
	read := []string{"ReadEdits"}
	keep := []string{"ReadEdits", "ReadComments", "ReadConflict", "ReadConflict", "PutConflict title settled planning", "ReadComments", "Save", "BeginWrite", "CreateComment", "ReadConflict", "PutConflict"}
	checkRule(t, keepForgotten, []ruleCase{
		{name: "nothing is decided", known: lacking},
		{name: "both changed, and the store knows all that was made", link: titles, known: known(title, whole)},
		{name: "both changed, and GitHub tells of no edits", link: titles, known: known(title), answers: edits(), asked: read, check: noted(0)},
		{name: "a write ran over a person's edit: its text is kept", link: titles, known: known(title), answers: edits(ran...), asked: keep, check: all(noted(1), tells("conflict"))},
		{
			name: "one of our comments has the text", link: titles, known: known(title), answers: with(edits(ran...), map[string]any{"ReadComments": []Comment{{Author: "bridge", Body: "it was b"}}}),
			asked: []string{"ReadEdits", "ReadComments"}, check: noted(0),
		},
		{
			name: "somebody else's comment has it", link: titles, known: known(title), answers: with(edits(ran...), map[string]any{"ReadComments": []Comment{{Author: "ann", Body: "it was b"}}}), asked: keep, check: noted(1),
		},
		{name: "it ran over one from before the sides agreed", link: agreed(mapping.Title, "c", "c"), known: known(title, sides(mapping.Title, "x", "d")), answers: edits(ran...), asked: read, check: noted(0)},
		{name: "only GitHub changed", link: titles, known: known(title, sides(mapping.Title, "c", "a"))},
		{name: "only planning changed", link: titles, known: known(title, sides(mapping.Title, "a", "c"))},
		{name: "planning's value is not known", link: titles, known: known(title, func(w work) { delete(w.p, mapping.Title) })},
		{name: "GitHub's value is not known", link: titles, known: known(title, func(w work) { delete(w.g, mapping.Title) })},
		{name: "the issue is not known", link: titles, known: known(title, func(w work) { w.issue = nil })},
		{name: "the marker is off: somebody wrote the text since", link: titles, known: known(title, func(w work) { w.unmarked = "u" })},
		{name: "its route never writes to GitHub", link: titles, route: func(r *mapping.Route) { r.Direction = mapping.ToPlanning }, known: known(title)},
		{name: "an estimate has no history", link: agreed(mapping.Estimate, "1", "1"), known: known(mapping.Decision{Attribute: mapping.Estimate}, sides(mapping.Estimate, "2", "3"))},
		{name: "at first sight, the issue was updated within a day", link: unbased, known: known(title, func(w work) { w.issue.UpdatedAt = noon.Add(-24 * time.Hour) }), answers: edits(), asked: read},
		{name: "at first sight, it was updated before", link: unbased, known: known(title, func(w work) { w.issue.UpdatedAt = noon.Add(-24*time.Hour - 1) })},
		{
			name: "the project was not seen as a whole", link: titles, known: known(title, func(w work) { w.epoch = "" }), answers: map[string]any{"ReadAdoption": Adoption{}}, asked: adoption, err: notAdopted,
		},
		{name: "GitHub does not tell of edits", link: titles, known: known(title), answers: map[string]any{"ReadEdits": mapping.ErrForbidden}, asked: read, check: tells("unverified")},
		{name: "GitHub is away", link: titles, known: known(title), answers: map[string]any{"ReadEdits": errAway}, asked: read, want: end, err: "earlier edits", check: tells()},
		{name: "it is, and was once before", link: titles, known: known(title, func(w work) { w.claim.Attempts = 1 }), answers: map[string]any{"ReadEdits": errAway}, asked: read, want: end, err: "earlier edits"},
		{name: "it was twice before", link: titles, known: known(title, func(w work) { w.claim.Attempts = 2 }), answers: map[string]any{"ReadEdits": errAway}, asked: read, check: tells("unverified")},
		{
			name: "the comments cannot be read", link: titles, known: known(title), answers: with(edits(ran...), map[string]any{"ReadComments": errAway}), asked: []string{"ReadEdits", "ReadComments"}, want: end, err: "comments",
		},
	})
}
